// SPDX-License-Identifier: Apache-2.0
//
// Finds, loads and checks libpigment once in a process. Any thread. The library stays loaded as long as the process lives.

package io.pigment;

import java.io.IOException;
import java.io.InputStream;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.SymbolLookup;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Locale;

final class NativeLibrary {
  private static final String PROPERTY = "pigment.library.path";
  private static final Linker LINKER = Linker.nativeLinker();
  private static final SymbolLookup SYMBOLS = load();

  private NativeLibrary() {}

  /** A function that may take long or call back. */
  static MethodHandle handle(String name, FunctionDescriptor descriptor) {
    return LINKER.downcallHandle(symbol(name), descriptor);
  }

  /** A function that does next to nothing, called without telling the collector that this thread is away. */
  static MethodHandle trivial(String name, FunctionDescriptor descriptor) {
    return LINKER.downcallHandle(symbol(name), descriptor, Linker.Option.critical(false));
  }

  private static MemorySegment symbol(String name) {
    return SYMBOLS.find(name).orElseThrow(() -> new UnsatisfiedLinkError("the library has no " + name));
  }

  /** A call of a handle throws nothing of its own; what comes is an error of the machine below. */
  static RuntimeException unexpected(Throwable thrown) {
    if (thrown instanceof Error error) {
      throw error;
    }
    if (thrown instanceof RuntimeException runtime) {
      return runtime;
    }
    return new IllegalStateException(thrown);
  }

  private static SymbolLookup load() {
    if (ValueLayout.ADDRESS.byteSize() != 8 || ValueLayout.JAVA_INT.order() != java.nio.ByteOrder.LITTLE_ENDIAN) {
      throw new UnsatisfiedLinkError("pigment needs a little-endian machine with addresses of 64 bits");
    }
    String name = System.mapLibraryName("pigment");
    String place = System.getProperty(PROPERTY, "");
    SymbolLookup found = place.isEmpty() ? search(name) : named(Path.of(place), name);
    checkVersion(found);
    return found;
  }

  /** A place that somebody named is used, or nothing is. */
  private static SymbolLookup named(Path place, String name) {
    Path file = Files.isDirectory(place) ? place.resolve(name) : place;
    if (!Files.isRegularFile(file)) {
      throw new UnsatisfiedLinkError("no library at " + file + ", where -D" + PROPERTY + " says it is");
    }
    return open(file);
  }

  private static SymbolLookup search(String name) {
    String path = System.getProperty("java.library.path", "");
    for (String folder : path.split(System.getProperty("path.separator"))) {
      if (!folder.isEmpty() && Files.isRegularFile(Path.of(folder, name))) {
        return open(Path.of(folder, name));
      }
    }
    String resource = "/native/" + platform() + "/" + name;
    try (InputStream bytes = NativeLibrary.class.getResourceAsStream(resource)) {
      if (bytes != null) {
        return extracted(bytes, name);
      }
    } catch (IOException failed) {
      throw cannot("cannot extract " + resource, failed);
    }
    throw new UnsatisfiedLinkError(
        name + " is not in java.library.path (" + path + ") nor in the jar as " + resource + "; -D" + PROPERTY
            + "=FOLDER says where it is");
  }

  /** In a folder that nobody else may write to; the file is gone as soon as the loader has it, or with the process. */
  private static SymbolLookup extracted(InputStream bytes, String name) throws IOException {
    Path folder = Files.createTempDirectory("pigment");
    Path file = folder.resolve(name);
    try {
      Files.copy(bytes, file);
      return open(file);
    } finally {
      try {
        Files.deleteIfExists(file);
        Files.delete(folder);
      } catch (IOException inUse) { // where a loaded file cannot be deleted
        folder.toFile().deleteOnExit();
        file.toFile().deleteOnExit();
      }
    }
  }

  private static SymbolLookup open(Path file) {
    try {
      return SymbolLookup.libraryLookup(file, Arena.global());
    } catch (IllegalArgumentException refused) {
      try {
        System.load(file.toAbsolutePath().toString()); // says what is missing
      } catch (UnsatisfiedLinkError reason) {
        throw cannot("the loader refuses the library", reason);
      }
      throw cannot("cannot look into " + file, refused);
    }
  }

  private static void checkVersion(SymbolLookup library) {
    try {
      MethodHandle abi = LINKER.downcallHandle(
          library.find("pigment_abi_version").orElseThrow(), FunctionDescriptor.of(ValueLayout.JAVA_INT));
      int version = (int) abi.invokeExact();
      if (version != Structs.ABI_VERSION) {
        throw new UnsatisfiedLinkError("this binding speaks ABI " + Structs.ABI_VERSION + " of libpigment, the library has " + version);
      }
    } catch (LinkageError other) {
      throw other;
    } catch (Throwable missing) {
      throw cannot("the library found is no libpigment", missing);
    }
  }

  /** "linux-amd64", "linux-arm64", "macos-arm64". */
  static String platform() {
    String system = System.getProperty("os.name").toLowerCase(Locale.ROOT);
    String os = system.startsWith("mac") ? "macos" : system.startsWith("windows") ? "windows" : system.replaceAll("[^a-z0-9]", "");
    String machine = System.getProperty("os.arch");
    return os + "-" + (machine.equals("x86_64") ? "amd64" : machine.equals("aarch64") ? "arm64" : machine);
  }

  private static UnsatisfiedLinkError cannot(String what, Throwable cause) {
    UnsatisfiedLinkError error = new UnsatisfiedLinkError(what + ": " + cause.getMessage());
    error.initCause(cause);
    return error;
  }
}
