// SPDX-License-Identifier: Apache-2.0
//
// The jar with the library inside, from a folder with nothing else: the example of docs/java.md, compiled and run on the class path and as
// a module. Runs when the jar has been made.

package io.pigment;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.File;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.jar.JarFile;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

@Tag("jar")
class JarTest {
  private static final Path JAR = Path.of(System.getProperty("pigment.jar"));
  private static final Path GUIDE = Path.of(System.getProperty("pigment.sources"), "docs/java.md");

  @TempDir Path folder;
  private String jars;

  @BeforeEach
  void copyTheJarsAndCompileTheExample() throws Exception {
    Path jackson = Path.of(Processes.classPath().stream().filter(part -> part.contains("jackson-core")).findFirst().orElseThrow());
    Path pigment = Files.copy(JAR, folder.resolve("pigment.jar"));
    Path other = Files.copy(jackson, folder.resolve("jackson-core.jar"));
    jars = pigment + File.pathSeparator + other;
    Files.writeString(folder.resolve("Example.java"), block("java"));
    Files.createDirectory(folder.resolve("tmp"));
    Process compiler = new ProcessBuilder(
        Path.of(System.getProperty("java.home"), "bin/javac").toString(), "-Xlint:all,-path", "-Werror", "-cp", pigment.toString(), "Example.java")
        .directory(folder.toFile()).inheritIO().start();
    assertEquals(0, compiler.waitFor());
  }

  /** The first block of a language in the guide. */
  private static String block(String language) throws Exception {
    Matcher matcher = Pattern.compile("```" + language + "\n(.*?)```", Pattern.DOTALL).matcher(Files.readString(GUIDE));
    assertTrue(matcher.find(), "no block of " + language + " in " + GUIDE);
    return matcher.group(1);
  }

  private String run(String... arguments) throws Exception {
    List<String> all = new ArrayList<>(List.of("-Djava.library.path=", "-Djava.io.tmpdir=" + folder.resolve("tmp")));
    all.addAll(List.of(arguments));
    String printed = Processes.java(folder, all);
    try (Stream<Path> left = Files.list(folder.resolve("tmp"))) {
      assertEquals(List.of(), left.map(Path::getFileName).map(Path::toString).filter(name -> !name.startsWith("hsperf")).toList());
    }
    return printed;
  }

  @Test
  void theExampleRunsOnTheClassPath() throws Exception {
    assertEquals(block("text"), run("--enable-native-access=ALL-UNNAMED", "-cp", jars + File.pathSeparator + ".", "Example"));
  }

  @Test
  void theExampleRunsWithThePackageAsAModule() throws Exception {
    // Where there is the option, access that was not granted is an error.
    String strict = Runtime.version().feature() >= 24 ? "--illegal-native-access=deny" : "-Xshare:auto";
    assertEquals(block("text"),
        run("--enable-native-access=io.pigment", strict, "-p", jars, "--add-modules", "io.pigment", "-cp", ".", "Example"));
  }

  @Test
  void theReferenceIsMadeWithoutAWarning() throws Exception {
    Path sources = GUIDE.resolveSibling("../bindings/java/src/main/java").normalize();
    Path reference = folder.resolve("reference");
    List<String> command = List.of(
        Path.of(System.getProperty("java.home"), "bin/javadoc").toString(), "-quiet", "-Werror", "-Xdoclint:all/protected", "-protected",
        "--release", "22", "-p", folder.toString(), "-d", reference.toString(), "--module-source-path", "io.pigment=" + sources, "--module",
        "io.pigment");
    Path said = folder.resolve("said");
    Process javadoc = new ProcessBuilder(command).directory(folder.toFile()).redirectErrorStream(true).redirectOutput(said.toFile()).start();
    int status = javadoc.waitFor();
    assertEquals(0, status, Files.readString(said));
    Path pages = reference.resolve("io.pigment/io/pigment");
    for (String page : List.of("Client.html", "Collection.html", "AsyncCollection.html", "QueryResult.html", "Where.html", "package-summary.html")) {
      assertTrue(Files.size(pages.resolve(page)) > 1000, page);
    }
    assertTrue(Files.notExists(pages.resolve("Functions.html")), "what is not public has no page");
  }

  @Test
  void theExampleIsShort() throws Exception {
    assertTrue(block("java").lines().count() <= 20, "the example has grown");
  }

  @Test
  void theJarHasTheLibraryAndIsAModule() throws Exception {
    try (JarFile jar = new JarFile(JAR.toFile())) {
      assertTrue(jar.getEntry("native/" + NativeLibrary.platform() + "/" + System.mapLibraryName("pigment")) != null);
      assertTrue(jar.getEntry("module-info.class") != null);
    }
  }
}
