// SPDX-License-Identifier: Apache-2.0
//
// A process that ends while calls run ends as it says, and what was acknowledged is there afterwards.

package io.pigment;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ExitTest {
  private static final int ROWS = 20_000;

  /** Begins a flush, queries and writes in the background, and goes. */
  static final class Program {
    private Program() {}

    public static void main(String[] args) throws InterruptedException {
      Client client = Client.open(Path.of(args[0]));
      Collection docs = client.createCollection("docs", new CollectionOptions().embeddingFunction(new Letters(
          "letters", 8, Map.of(), Optional.empty(), "")));
      List<String> ids = new ArrayList<>();
      float[] values = new float[ROWS * 8];
      for (int row = 0; row < ROWS; ++row) {
        ids.add("id" + row);
        values[row * 8 + row % 8] = row;
      }
      docs.add(Records.of(ids).embeddings(Embeddings.ofRows(values, 8)));
      docs.async().flush();
      docs.async().query(new QueryRequest().embeddings(Embeddings.ofRows(Arrays.copyOf(values, 8000), 8)).recall(1).results(100));
      for (int row = 0; row < 50; ++row) {
        docs.async().add(Records.of("late" + row).documents("a text"));
      }
      System.out.println("added");
      Thread.sleep(Integer.parseInt(args[1]));
      if (args[2].equals("exit")) {
        System.exit(3);
      }
    }
  }

  @TempDir Path folder;

  @Test
  void aProcessThatEndsInTheMiddleOfCallsLosesNothing() throws Exception {
    for (int round = 0; round < 4; ++round) {
      Path store = folder.resolve("store" + round);
      String end = round % 2 == 0 ? "exit" : "return";
      String options = "-Dpigment.library.path=" + Processes.library();
      String printed = Processes.java(
          folder, true, new String[] {options}, Program.class.getName(), store.toString(), String.valueOf(round * 30), end);
      assertEquals("added\n", printed);
      try (Client client = Client.open(store); Collection docs = client.getCollection("docs")) {
        long count = docs.count();
        assertTrue(count >= ROWS && count <= ROWS + 50, count + " records");
        assertTrue(client.check(false).clean());
      }
    }
  }
}
