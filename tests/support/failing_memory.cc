// SPDX-License-Identifier: Apache-2.0
//
// operator new on malloc, with a countdown: see the header.

#include "tests/support/failing_memory.h"

#include <cstddef>
#include <cstdlib>
#include <new>

namespace pigment {
namespace {

struct Countdown {
  bool is_active = false;
  uint64_t at = 0;
  uint64_t span = 0;
  uint64_t made = 0;
  uint64_t failed = 0;
  void (*call)(void*) = nullptr;
  void* argument = nullptr;
};
thread_local Countdown t_countdown;

bool MayAllocate() {
  Countdown& countdown = t_countdown;
  if (!countdown.is_active) return true;
  ++countdown.made;
  if (countdown.call != nullptr && countdown.made == countdown.at) {
    countdown.is_active = false;
    countdown.call(countdown.argument);
    countdown.is_active = true;
  }
  const bool fails = countdown.at != 0 && countdown.made >= countdown.at &&
                     countdown.made - countdown.at < countdown.span;
  countdown.failed += fails;
  return !fails;
}

void* Allocate(size_t size) { return MayAllocate() ? std::malloc(size != 0 ? size : 1) : nullptr; }
void* Allocate(size_t size, std::align_val_t alignment) {
  const size_t unit = static_cast<size_t>(alignment);
  return MayAllocate() ? std::aligned_alloc(unit, (size + unit - 1) / unit * unit) : nullptr;
}

}  // namespace

void FailAllocations(uint64_t at, uint64_t span) {
  t_countdown = {};
  t_countdown.at = at;
  t_countdown.span = span;
}
void CallAtAllocation(uint64_t at, void (*call)(void* argument), void* argument) {
  t_countdown = {};
  t_countdown.at = at;
  t_countdown.call = call;
  t_countdown.argument = argument;
}
void ResumeFailingAllocations() { t_countdown.is_active = true; }
void PauseFailingAllocations() { t_countdown.is_active = false; }
uint64_t AllocationsMade() { return t_countdown.made; }
uint64_t AllocationsFailed() { return t_countdown.failed; }

}  // namespace pigment

// Inlined, the compiler would see new and free meet.
#define NOT_INLINED __attribute__((noinline))
NOT_INLINED void* operator new(size_t size) {
  if (void* memory = pigment::Allocate(size)) return memory;
  throw std::bad_alloc();
}
NOT_INLINED void* operator new[](size_t size) { return operator new(size); }
NOT_INLINED void* operator new(size_t size, std::align_val_t alignment) {
  if (void* memory = pigment::Allocate(size, alignment)) return memory;
  throw std::bad_alloc();
}
NOT_INLINED void* operator new[](size_t size, std::align_val_t alignment) {
  return operator new(size, alignment);
}
NOT_INLINED void* operator new(size_t size, const std::nothrow_t&) noexcept {
  return pigment::Allocate(size);
}
NOT_INLINED void* operator new[](size_t size, const std::nothrow_t&) noexcept {
  return pigment::Allocate(size);
}
NOT_INLINED void* operator new(size_t size, std::align_val_t alignment,
                               const std::nothrow_t&) noexcept {
  return pigment::Allocate(size, alignment);
}
NOT_INLINED void* operator new[](size_t size, std::align_val_t alignment,
                                 const std::nothrow_t&) noexcept {
  return pigment::Allocate(size, alignment);
}
NOT_INLINED void operator delete(void* memory) noexcept { std::free(memory); }
NOT_INLINED void operator delete[](void* memory) noexcept { std::free(memory); }
NOT_INLINED void operator delete(void* memory, size_t) noexcept { std::free(memory); }
NOT_INLINED void operator delete[](void* memory, size_t) noexcept { std::free(memory); }
NOT_INLINED void operator delete(void* memory, std::align_val_t) noexcept { std::free(memory); }
NOT_INLINED void operator delete[](void* memory, std::align_val_t) noexcept { std::free(memory); }
NOT_INLINED void operator delete(void* memory, size_t, std::align_val_t) noexcept {
  std::free(memory);
}
NOT_INLINED void operator delete[](void* memory, size_t, std::align_val_t) noexcept {
  std::free(memory);
}
NOT_INLINED void operator delete(void* memory, const std::nothrow_t&) noexcept {
  std::free(memory);
}
NOT_INLINED void operator delete[](void* memory, const std::nothrow_t&) noexcept {
  std::free(memory);
}
NOT_INLINED void operator delete(void* memory, std::align_val_t, const std::nothrow_t&) noexcept {
  std::free(memory);
}
NOT_INLINED void operator delete[](void* memory, std::align_val_t, const std::nothrow_t&) noexcept {
  std::free(memory);
}
