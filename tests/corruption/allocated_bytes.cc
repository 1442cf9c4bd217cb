// SPDX-License-Identifier: Apache-2.0
//
// Counting operator new of this test program: see the header. Any thread.

#include "tests/corruption/allocated_bytes.h"

#include <malloc.h>

#include <atomic>
#include <cstdlib>
#include <new>

#include "tests/support/effort.h"

namespace pigment {
namespace {

std::atomic<size_t> g_bytes{0};
std::atomic<size_t> g_peak{0};

}  // namespace

size_t AllocatedBytes() { return g_bytes.load(std::memory_order_relaxed); }
size_t PeakAllocatedBytes() { return g_peak.load(std::memory_order_relaxed); }
void ResetPeakAllocatedBytes() { g_peak.store(AllocatedBytes(), std::memory_order_relaxed); }

namespace {

[[maybe_unused]] void* Count(void* memory) {
  if (memory == nullptr) return nullptr;
  const size_t bytes = malloc_usable_size(memory);
  const size_t now = g_bytes.fetch_add(bytes, std::memory_order_relaxed) + bytes;
  size_t peak = g_peak.load(std::memory_order_relaxed);
  while (now > peak && !g_peak.compare_exchange_weak(peak, now, std::memory_order_relaxed)) {
  }
  return memory;
}

[[maybe_unused]] void Free(void* memory) {
  if (memory == nullptr) return;
  g_bytes.fetch_sub(malloc_usable_size(memory), std::memory_order_relaxed);
  std::free(memory);
}

}  // namespace
}  // namespace pigment

#if !PIGMENT_IS_SANITIZED

// Inlined, the compiler would see new and free meet.
#define NOT_INLINED __attribute__((noinline))
NOT_INLINED void* operator new(size_t size) {
  if (void* memory = pigment::Count(std::malloc(size != 0 ? size : 1))) return memory;
  throw std::bad_alloc();
}
NOT_INLINED void* operator new[](size_t size) { return operator new(size); }
NOT_INLINED void* operator new(size_t size, const std::nothrow_t&) noexcept {
  return pigment::Count(std::malloc(size != 0 ? size : 1));
}
NOT_INLINED void* operator new(size_t size, std::align_val_t alignment) {
  const size_t unit = static_cast<size_t>(alignment);
  if (void* memory = pigment::Count(std::aligned_alloc(unit, (size + unit - 1) / unit * unit)))
    return memory;
  throw std::bad_alloc();
}
NOT_INLINED void* operator new[](size_t size, std::align_val_t alignment) {
  return operator new(size, alignment);
}
NOT_INLINED void operator delete(void* memory) noexcept { pigment::Free(memory); }
NOT_INLINED void operator delete[](void* memory) noexcept { pigment::Free(memory); }
NOT_INLINED void operator delete(void* memory, size_t) noexcept { pigment::Free(memory); }
NOT_INLINED void operator delete[](void* memory, size_t) noexcept { pigment::Free(memory); }
NOT_INLINED void operator delete(void* memory, const std::nothrow_t&) noexcept {
  pigment::Free(memory);
}
NOT_INLINED void operator delete(void* memory, std::align_val_t) noexcept { pigment::Free(memory); }
NOT_INLINED void operator delete[](void* memory, std::align_val_t) noexcept {
  pigment::Free(memory);
}
NOT_INLINED void operator delete(void* memory, size_t, std::align_val_t) noexcept {
  pigment::Free(memory);
}
NOT_INLINED void operator delete[](void* memory, size_t, std::align_val_t) noexcept {
  pigment::Free(memory);
}

#endif
