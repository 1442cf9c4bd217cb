// SPDX-License-Identifier: Apache-2.0
//
// Where the library is looked for, and what is said when it is not there or another one. Each in a process of its own.

package io.pigment;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class NativeLibraryTest {
  /** The program of the other process: prints the version, or what goes wrong, twice. */
  static final class Program {
    private Program() {}

    public static void main(String[] args) {
      for (int attempt = 0; attempt < 2; ++attempt) {
        try {
          System.out.println("version " + Pigment.version());
        } catch (LinkageError refused) {
          System.out.println(refused.getClass().getSimpleName() + " " + refused.getMessage());
        }
      }
    }
  }

  private static final String TWICE = ("version " + Structs.VERSION + "\n").repeat(2);

  @TempDir Path folder;

  private String printed(String... options) throws Exception {
    return Processes.java(folder, true, options, Program.class.getName());
  }

  @Test
  void aPlaceThatIsNamedIsTheOnlyOne() throws Exception {
    String printed = printed("-Dpigment.library.path=" + folder);
    assertTrue(printed.startsWith("UnsatisfiedLinkError no library at " + folder), printed);
  }

  @Test
  void aFolderAndAFileCanBeNamed() throws Exception {
    Path library = Processes.library();
    assertEquals(TWICE, printed("-Dpigment.library.path=" + library));
    assertEquals(TWICE, printed("-Dpigment.library.path=" + library.getParent()));
    assertEquals(TWICE, printed("-Djava.library.path=/nowhere:" + library.getParent()));
  }

  @Test
  void whatIsNoLibraryIsRefused() throws Exception {
    Path text = Files.writeString(folder.resolve("libpigment.so"), "no library");
    String printed = printed("-Dpigment.library.path=" + text);
    assertTrue(printed.contains("UnsatisfiedLinkError the loader refuses the library: " + text), printed);
  }

  @Test
  void anotherLibraryAndAnotherVersionAreRefused() throws Exception {
    Path other = compiled("int other;\n");
    assertTrue(printed("-Dpigment.library.path=" + other).startsWith("UnsatisfiedLinkError the library found is no libpigment"));
    Path newer = compiled("int pigment_abi_version(void) { return 7; }\n");
    String printed = printed("-Dpigment.library.path=" + newer);
    assertTrue(printed.startsWith("UnsatisfiedLinkError this binding speaks ABI 1 of libpigment, the library has 7\n"), printed);
    // The second attempt fails too, and says that it is the same failure.
    assertTrue(printed.contains("NoClassDefFoundError"), printed);
  }

  private Path compiled(String source) throws Exception {
    Path code = Files.writeString(Files.createTempFile(folder, "fake", ".c"), source);
    Path library = folder.resolve(code.getFileName() + ".so");
    Process compiler = new ProcessBuilder("cc", "-shared", "-fPIC", "-o", library.toString(), code.toString()).inheritIO().start();
    assertEquals(0, compiler.waitFor());
    return library;
  }

  @Test
  void nothingFoundSaysWhereItWasLookedFor() throws Exception {
    String printed = Processes.java(
        folder, false, new String[] {"-Djava.library.path=/nowhere:/here"}, Program.class.getName());
    assertTrue(printed.startsWith("UnsatisfiedLinkError libpigment.so is not in java.library.path (/nowhere:/here) nor in the jar as "
        + "/native/" + NativeLibrary.platform() + "/libpigment.so; -Dpigment.library.path=FOLDER says where it is\n"), printed);
  }

  @Test
  void platformsHaveTheNamesOfTheJarsFolders() {
    assertTrue(List.of("linux-amd64", "linux-arm64", "macos-amd64", "macos-arm64").contains(NativeLibrary.platform()),
        NativeLibrary.platform());
  }
}
