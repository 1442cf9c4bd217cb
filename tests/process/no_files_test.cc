// SPDX-License-Identifier: Apache-2.0
//
// A store without a path touches no file: its process runs under a filter that ends it at the first
// system call that opens, makes, names or removes one.

#include <gtest/gtest.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/syscall.h>

#include <cstddef>
#include <vector>

#include "engine/collection/store.h"
#include "tests/process/children.h"
#include "tests/process/journal.h"
#include "tests/support/effort.h"
#include "tests/support/temporary_directory.h"

namespace pigment {
namespace {

// From here on, a system call about a name of a file is the end.
bool ForbidFiles() {
  const uint32_t forbidden[] = {
#ifdef __x86_64__
      SYS_open, SYS_creat, SYS_unlink, SYS_rename, SYS_mkdir, SYS_rmdir, SYS_link, SYS_symlink,
      SYS_truncate, SYS_stat, SYS_lstat, SYS_access, SYS_readlink, SYS_mknod,
#endif
      SYS_openat, SYS_openat2, SYS_unlinkat, SYS_renameat2, SYS_mkdirat, SYS_linkat, SYS_symlinkat,
      SYS_newfstatat, SYS_statx, SYS_faccessat, SYS_readlinkat, SYS_memfd_create, SYS_getdents64,
      SYS_flock, SYS_fsync, SYS_fdatasync, SYS_ftruncate, SYS_fallocate, SYS_pread64, SYS_pwrite64};
  std::vector<sock_filter> program = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr))};
  for (const uint32_t call : forbidden) {
    program.push_back(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, call, 0, 1));
    program.push_back(BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS));
  }
  program.push_back(BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW));
  const sock_fprog filter{.len = static_cast<unsigned short>(program.size()),
                          .filter = program.data()};
  return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
         prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) == 0;
}

std::string UseEverything(const std::optional<std::string>& path) {
  StoreOptions options;
  options.flush_rows_max = 20;
  options.sync_mode = SyncMode::kInterval;
  const auto store = Store::Open(path, options);
  PIGMENT_CHILD_OK(store);
  const auto journal = (*store)->CreateCollection(EntryNamed("journal"));
  PIGMENT_CHILD_OK(journal);
  for (uint64_t number = 0; number < 200; ++number) {
    PIGMENT_CHILD_OK(WriteJournal(**journal, number));
  }
  PIGMENT_CHILD_OK((*store)->Flush());
  PIGMENT_CHILD_OK((*journal)->Compact());
  PIGMENT_CHILD_CHECK(*ReadJournal(**store) == 200);
  PIGMENT_CHILD_OK((*(*store)->catalog())->Checkpoint());
  PIGMENT_CHILD_OK((*store)->ForkCollection((*journal)->entry().id, "copy"));
  PIGMENT_CHILD_OK((*store)->DeleteCollection({}, "journal"));
  PIGMENT_CHILD_OK((*store)->Close());
  return "";
}

std::string UnderFilter(const std::optional<std::string>& path) {
  return RunInChild([&]() -> std::string {
    PIGMENT_CHILD_CHECK(ForbidFiles());
    return UseEverything(path);
  });
}

TEST(NoFiles, AreTouchedByAStoreWithoutAPath) {
  if (kIsSanitized) GTEST_SKIP() << "the sanitizer itself opens files";
  EXPECT_EQ(UnderFilter(std::nullopt), "");
}

TEST(NoFiles, IsATestThatCanFail) {
  TemporaryDirectory directory;
  EXPECT_EQ(UnderFilter(directory / "db"), " (ended by signal 31)");
  EXPECT_EQ(RunInChild([&] { return UseEverything(directory / "db"); }), "");
}

}  // namespace
}  // namespace pigment
