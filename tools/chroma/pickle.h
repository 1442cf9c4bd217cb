// SPDX-License-Identifier: Apache-2.0
//
// Python's pickle format as far as Chroma's index_metadata.pickle needs it: dictionaries, lists,
// texts and numbers, and the class PersistentData of old versions, of which only the members are
// taken. Nothing is imported and nothing is called, because there is nothing that could. What is
// not known is refused with its offset. Owns the bytes; values point into them.

#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace pigment_tool {

struct PickleContainer;

struct PickleValue {
  enum class Kind { kNone, kBool, kInteger, kFloat, kText, kDictionary, kList, kClass, kMark };
  Kind kind = Kind::kNone;
  int64_t integer = 0;
  double number = 0;
  std::string_view text;
  PickleContainer* container = nullptr;  // of dictionaries and lists

  // The member of a dictionary; null when it is none or has none.
  const PickleValue* Find(std::string_view key) const;
};

struct PickleContainer {
  std::vector<std::pair<PickleValue, PickleValue>> items;  // of a list, the first are empty
};

class Pickle {
 public:
  // `name` is for errors. Throws Failure (DATA_LOSS).
  Pickle(std::string bytes, std::string name);
  Pickle(const Pickle&) = delete;
  Pickle& operator=(const Pickle&) = delete;

  const PickleValue& root() const { return root_; }

 private:
  void Run();
  void Step(unsigned char code);
  bool StepScalar(unsigned char code);
  bool StepMemo(unsigned char code);

  [[noreturn]] void Fail(const std::string& what) const;
  std::string_view Take(uint64_t size);
  std::string_view TakeLine();
  uint64_t TakeNumber(size_t bytes);
  PickleValue Pop();
  PickleValue& Top();
  size_t PopToMark();  // where what was above the mark begins on the stack; the mark is gone
  PickleValue NewContainer(PickleValue::Kind kind);
  void Push(PickleValue value) { stack_.push_back(value); }
  void PushInteger(int64_t integer);
  void PushClass(std::string_view module, std::string_view name);
  void SetItems(size_t begin);
  void Append(size_t begin);
  void Build();

  std::string bytes_;
  std::string name_;
  size_t at_ = 0;
  size_t began_ = 0;  // of the opcode
  bool is_over_ = false;
  std::vector<PickleValue> stack_;
  std::map<uint64_t, PickleValue> memo_;
  std::deque<PickleContainer> containers_;
  PickleValue root_;
};

}  // namespace pigment_tool
