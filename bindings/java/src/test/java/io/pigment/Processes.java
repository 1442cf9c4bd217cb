// SPDX-License-Identifier: Apache-2.0
//
// Java programs in processes of their own, and where the library of these tests is.

package io.pigment;

import java.io.File;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;

final class Processes {
  private Processes() {}

  /** The library that these tests run with. */
  static Path library() {
    String named = System.getProperty("pigment.library.path", "");
    String path = named.isEmpty() ? System.getProperty("java.library.path") : named;
    return Stream.of(path.split(File.pathSeparator)).map(folder -> Path.of(folder, System.mapLibraryName("pigment")))
        .filter(Files::isRegularFile).findFirst().orElseThrow();
  }

  /** What a class with its arguments printed, errors too. The class path is that of the tests; without natives, one that has no library in it. */
  static String java(Path folder, boolean natives, String[] options, String... program) throws IOException, InterruptedException {
    List<String> parts = classPath();
    if (!natives) {
      parts = parts.stream().map(part -> withoutNatives(Path.of(part), folder).toString()).toList();
    }
    List<String> command = new ArrayList<>(List.of("--enable-native-access=ALL-UNNAMED", "-cp", String.join(File.pathSeparator, parts)));
    command.addAll(List.of(options));
    command.addAll(List.of(program));
    return java(folder, command);
  }

  static List<String> classPath() {
    String path = System.getProperty("surefire.test.class.path", System.getProperty("java.class.path"));
    return List.of(path.split(File.pathSeparator));
  }

  static String java(Path folder, List<String> arguments) throws IOException, InterruptedException {
    List<String> command = new ArrayList<>(List.of(Path.of(System.getProperty("java.home"), "bin/java").toString(), "-Xmx256m"));
    command.addAll(arguments);
    ProcessBuilder builder = new ProcessBuilder(command).directory(folder.toFile()).redirectErrorStream(true);
    builder.environment().remove("LD_LIBRARY_PATH");
    builder.environment().remove("JAVA_TOOL_OPTIONS");
    Process process = builder.start();
    String printed = new String(process.getInputStream().readAllBytes());
    process.waitFor();
    return printed;
  }

  private static Path withoutNatives(Path part, Path folder) {
    if (!Files.isDirectory(part.resolve("native"))) {
      return part;
    }
    Path copy = folder.resolve("classes");
    try (Stream<Path> files = Files.walk(part)) {
      for (Path file : files.filter(one -> !one.startsWith(part.resolve("native"))).toList()) {
        Path target = copy.resolve(part.relativize(file).toString());
        if (Files.isDirectory(file)) {
          Files.createDirectories(target);
        } else {
          Files.copy(file, target);
        }
      }
    } catch (IOException failed) {
      throw new UncheckedIOException(failed);
    }
    return copy;
  }
}
