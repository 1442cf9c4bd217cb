// SPDX-License-Identifier: Apache-2.0
//
// Opcodes: the table of Python's pickletools.

#include "tools/chroma/pickle.h"

#include <bit>
#include <cstdio>

#include "tools/session.h"

namespace pigment_tool {
namespace {

using Kind = PickleValue::Kind;

// The one class that versions before 1.0 wrote.
constexpr std::string_view kModule = "chromadb.segment.impl.vector.local_persistent_hnsw";
constexpr std::string_view kClass = "PersistentData";

}  // namespace

const PickleValue* PickleValue::Find(std::string_view key) const {
  if (kind != Kind::kDictionary) return nullptr;
  for (const auto& [name, value] : container->items) {
    if (name.kind == Kind::kText && name.text == key) return &value;
  }
  return nullptr;
}

Pickle::Pickle(std::string bytes, std::string name)
    : bytes_(std::move(bytes)), name_(std::move(name)) {
  Run();
}

void Pickle::Fail(const std::string& what) const {
  throw Failure(PIGMENT_DATA_LOSS, "\"" + name_ + "\" at " + std::to_string(began_) + ": " + what);
}

void Pickle::Run() {
  while (!is_over_) {
    began_ = at_;
    Step(static_cast<unsigned char>(Take(1)[0]));
  }
}

std::string_view Pickle::Take(uint64_t size) {
  if (size > bytes_.size() - at_) Fail("the pickle ends early");
  const std::string_view taken = std::string_view(bytes_).substr(at_, size);
  at_ += size;
  return taken;
}

std::string_view Pickle::TakeLine() {
  const size_t end = bytes_.find('\n', at_);
  if (end == std::string::npos) Fail("the pickle ends early");
  const std::string_view line = Take(end - at_);
  Take(1);
  return line;
}

uint64_t Pickle::TakeNumber(size_t bytes) {
  uint64_t number = 0;
  const std::string_view taken = Take(bytes);
  for (size_t i = 0; i < bytes; ++i) {
    number |= static_cast<uint64_t>(static_cast<unsigned char>(taken[i])) << (8 * i);
  }
  return number;
}

PickleValue& Pickle::Top() {
  if (stack_.empty() || stack_.back().kind == Kind::kMark) Fail("nothing is on the stack");
  return stack_.back();
}

PickleValue Pickle::Pop() {
  const PickleValue value = Top();
  stack_.pop_back();
  return value;
}

size_t Pickle::PopToMark() {
  size_t at = stack_.size();
  while (at > 0 && stack_[at - 1].kind != Kind::kMark) --at;
  if (at == 0) Fail("no mark is on the stack");
  stack_.erase(stack_.begin() + static_cast<ptrdiff_t>(at) - 1);
  return at - 1;
}

PickleValue Pickle::NewContainer(Kind kind) {
  PickleValue value;
  value.kind = kind;
  value.container = &containers_.emplace_back();
  return value;
}

void Pickle::PushInteger(int64_t integer) {
  PickleValue value;
  value.kind = Kind::kInteger;
  value.integer = integer;
  Push(value);
}

void Pickle::PushClass(std::string_view module, std::string_view name) {
  if (module != kModule || name != kClass) {
    Fail("the pickle asks for \"" + std::string(module) + "." + std::string(name) +
         "\", which is refused");
  }
  PickleValue value;
  value.kind = Kind::kClass;
  Push(value);
}

void Pickle::SetItems(size_t begin) {
  if ((stack_.size() - begin) % 2 != 0) Fail("a key without a value");
  if (begin == 0 || stack_[begin - 1].kind != Kind::kDictionary) Fail("items of no dictionary");
  PickleContainer& target = *stack_[begin - 1].container;
  for (size_t i = begin; i < stack_.size(); i += 2) {
    target.items.emplace_back(stack_[i], stack_[i + 1]);
  }
  stack_.resize(begin);
}

void Pickle::Append(size_t begin) {
  if (begin == 0 || stack_[begin - 1].kind != Kind::kList) Fail("elements of no list");
  PickleContainer& target = *stack_[begin - 1].container;
  for (size_t i = begin; i < stack_.size(); ++i)
    target.items.emplace_back(PickleValue(), stack_[i]);
  stack_.resize(begin);
}

// An instance is the dictionary of its members here.
void Pickle::Build() {
  const PickleValue state = Pop();
  PickleValue& instance = Top();
  if (state.kind != Kind::kDictionary || instance.kind != Kind::kDictionary) {
    Fail("members of no instance");
  }
  if (state.container == instance.container) Fail("an instance that is its own members");
  auto& members = instance.container->items;
  members.insert(members.end(), state.container->items.begin(), state.container->items.end());
}

void Pickle::Step(unsigned char code) {
  if (StepScalar(code) || StepMemo(code)) return;
  switch (code) {
    case 0x80:  // PROTO
      if (TakeNumber(1) > 5) Fail("the pickle has a newer protocol");
      return;
    case 0x95:  // FRAME
      Take(8);
      return;
    case '.':  // STOP
      root_ = Pop();
      is_over_ = true;
      return;
    case '(': {  // MARK
      PickleValue mark;
      mark.kind = Kind::kMark;
      return Push(mark);
    }
    case '}':  // EMPTY_DICT
      return Push(NewContainer(Kind::kDictionary));
    case ']':  // EMPTY_LIST
    case ')':  // EMPTY_TUPLE
      return Push(NewContainer(Kind::kList));
    case 'u':  // SETITEMS
      return SetItems(PopToMark());
    case 's':  // SETITEM
      if (stack_.size() < 2) Fail("nothing is on the stack");
      return SetItems(stack_.size() - 2);
    case 'e':  // APPENDS
      return Append(PopToMark());
    case 'a':  // APPEND
      if (stack_.empty()) Fail("nothing is on the stack");
      return Append(stack_.size() - 1);
    case 'c': {  // GLOBAL
      const std::string_view module = TakeLine();
      return PushClass(module, TakeLine());
    }
    case 0x93: {  // STACK_GLOBAL
      const PickleValue name = Pop();
      const PickleValue module = Pop();
      return PushClass(module.text, name.text);
    }
    case 0x81: {  // NEWOBJ
      const PickleValue arguments = Pop();
      const PickleValue type = Pop();
      if (type.kind != Kind::kClass || arguments.kind != Kind::kList ||
          !arguments.container->items.empty()) {
        Fail("an instance with arguments");
      }
      return Push(NewContainer(Kind::kDictionary));
    }
    case 'b':  // BUILD
      return Build();
    default: {
      char text[48];
      std::snprintf(text, sizeof text, "opcode 0x%02x is refused", code);
      Fail(text);
    }
  }
}

bool Pickle::StepScalar(unsigned char code) {
  PickleValue value;
  switch (code) {
    case 'N':  // NONE
      break;
    case 0x88:  // NEWTRUE
    case 0x89:  // NEWFALSE
      value.kind = Kind::kBool;
      value.integer = code == 0x88 ? 1 : 0;
      break;
    case 'J':  // BININT
      PushInteger(static_cast<int32_t>(TakeNumber(4)));
      return true;
    case 'K':  // BININT1
      PushInteger(static_cast<int64_t>(TakeNumber(1)));
      return true;
    case 'M':  // BININT2
      PushInteger(static_cast<int64_t>(TakeNumber(2)));
      return true;
    case 0x8a: {  // LONG1
      const uint64_t size = TakeNumber(1);
      if (size > 8) Fail("an integer of more than 64 bits");
      uint64_t bits = TakeNumber(size);
      if (size > 0 && size < 8 && (bits >> (8 * size - 1) & 1) != 0)
        bits |= ~uint64_t{0} << (8 * size);
      PushInteger(static_cast<int64_t>(bits));
      return true;
    }
    case 'G': {  // BINFLOAT
      uint64_t bits = 0;
      for (const char byte : Take(8)) bits = bits << 8 | static_cast<unsigned char>(byte);
      value.kind = Kind::kFloat;
      value.number = std::bit_cast<double>(bits);
      break;
    }
    case 0x8c:  // SHORT_BINUNICODE
    case 'X':   // BINUNICODE
    case 0x8d:  // BINUNICODE8
      value.kind = Kind::kText;
      value.text = Take(TakeNumber(code == 'X' ? 4 : code == 0x8c ? 1 : 8));
      break;
    default:
      return false;
  }
  Push(value);
  return true;
}

bool Pickle::StepMemo(unsigned char code) {
  switch (code) {
    case 'q':  // BINPUT
      memo_[TakeNumber(1)] = Top();
      return true;
    case 'r':  // LONG_BINPUT
      memo_[TakeNumber(4)] = Top();
      return true;
    case 0x94:  // MEMOIZE
      memo_[memo_.size()] = Top();
      return true;
    case 'h':    // BINGET
    case 'j': {  // LONG_BINGET
      const auto found = memo_.find(TakeNumber(code == 'h' ? 1 : 4));
      if (found == memo_.end()) Fail("a memo that was not written");
      Push(found->second);
      return true;
    }
    default:
      return false;
  }
}

}  // namespace pigment_tool
