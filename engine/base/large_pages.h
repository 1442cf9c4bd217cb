// SPDX-License-Identifier: Apache-2.0
//
// An allocator for containers that are read here and there: what takes several large pages of the
// machine is laid out in such, where the system has them for who asks. A walk over 150 MB in pages
// of 4 KiB waits for the page tables as long as for the memory.

#pragma once

#include <cstddef>
#include <limits>
#include <new>

#ifdef __linux__
#include <sys/mman.h>
#endif

namespace pigment {

inline constexpr size_t kLargePageBytes = size_t{2} << 20;

template <typename T>
struct LargePageAllocator {
  using value_type = T;

  LargePageAllocator() = default;
  template <typename U>
  LargePageAllocator(const LargePageAllocator<U>&) {}

  T* allocate(size_t count) {
    if (count > std::numeric_limits<size_t>::max() / sizeof(T)) throw std::bad_array_new_length();
    const size_t bytes = count * sizeof(T);
    if (!IsLarge(bytes)) return static_cast<T*>(::operator new(bytes));
    void* const memory = ::operator new (bytes, std::align_val_t{kLargePageBytes});
#ifdef MADV_HUGEPAGE
    // Whole pages alone: what is behind them may be somebody else's.
    (void)madvise(memory, bytes / kLargePageBytes * kLargePageBytes, MADV_HUGEPAGE);
#endif
    return static_cast<T*>(memory);
  }
  void deallocate(T* memory, size_t count) {
    if (!IsLarge(count * sizeof(T))) return ::operator delete(memory);
    ::operator delete (memory, std::align_val_t{kLargePageBytes});
  }

  template <typename U>
  bool operator==(const LargePageAllocator<U>&) const {
    return true;
  }

 private:
  static constexpr bool IsLarge(size_t bytes) { return bytes >= 4 * kLargePageBytes; }
};

}  // namespace pigment
