// SPDX-License-Identifier: Apache-2.0
//
// pigment browse DIR: looks through a store on a terminal.

#include <clocale>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "tools/browse/collections_view.h"
#include "tools/browse/screen.h"
#include "tools/commands.h"
#include "tools/options.h"
#include "tools/output.h"
#include "tools/session.h"

namespace pigment_tool {
namespace {

struct Arguments {
  std::string directory;
  Selection selection;
};

// The views that are open, the last one seen; and what went wrong with the last key.
class Browser {
 public:
  explicit Browser(std::unique_ptr<browse::View> first) { views_.push_back(std::move(first)); }

  // A view that cannot draw itself any more is closed, and the one below says why.
  browse::Frame Draw(browse::Size size) {
    while (true) {
      try {
        browse::Frame frame = views_.back()->Draw(size);
        if (!failure_.empty() && !frame.is_prompt) frame.status = failure_;
        return frame;
      } catch (const Failure& failure) {
        if (views_.size() == 1 || IsInterrupted()) throw;
        views_.pop_back();
        failure_ = Printable(failure.what());
      }
    }
  }

  bool Handle(browse::Input input, browse::Size size) {
    failure_.clear();
    try {
      browse::Step step = views_.back()->Handle(input, size);
      if (step.kind == browse::Step::Kind::kQuit) return false;
      if (step.kind == browse::Step::Kind::kOpen) views_.push_back(std::move(step.opened));
      if (step.kind == browse::Step::Kind::kBack && views_.size() > 1) views_.pop_back();
    } catch (const Failure& failure) {
      failure_ = Printable(failure.what());
    }
    return true;
  }

 private:
  std::vector<std::unique_ptr<browse::View>> views_;
  std::string failure_;
};

int Run(Arguments& arguments) {
  std::setlocale(LC_CTYPE, "");  // how wide letters are, and which ones the terminal takes
  const Client client = OpenToRead(arguments.directory);
  Browser browser(std::make_unique<browse::CollectionsView>(client.get(), arguments.directory,
                                                            arguments.selection));
  CatchInterrupts(Repeated::kIgnored);  // the terminal must be given back
  browse::Screen screen;
  while (true) {
    screen.Draw(browser.Draw(screen.size()));
    const std::optional<browse::Input> input = screen.Read();
    if (IsInterrupted()) return kInterrupted;
    if (input && !browser.Handle(*input, screen.size())) return kFine;
  }
}

}  // namespace

void AddBrowse(Program& program) {
  const Command command =
      AddCommand(program, "browse", "look through collections and records on a terminal");
  const auto arguments = std::make_shared<Arguments>();
  AddStore(command, "DIR", arguments->directory, "the store");
  AddScope(command, arguments->selection.tenant, arguments->selection.database);
  command.OnGiven([&program, arguments] { program.run = [arguments] { return Run(*arguments); }; });
}

}  // namespace pigment_tool
