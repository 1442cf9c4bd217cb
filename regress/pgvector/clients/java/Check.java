// SPDX-License-Identifier: Apache-2.0

import com.pgvector.PGhalfvec;
import com.pgvector.PGsparsevec;
import com.pgvector.PGvector;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.Arrays;

/** pgvector's Java package, unchanged, against our types: JDBC in text and, after five uses, in binary. Prints TAP. */
public final class Check {
  private static final int USES = 10;

  private static boolean same(ResultSet row, PGvector v, PGhalfvec h, PGsparsevec s) throws SQLException {
    return Arrays.equals(((PGvector) row.getObject(1)).toArray(), v.toArray())
        && Arrays.equals(((PGhalfvec) row.getObject(2)).toArray(), h.toArray())
        && Arrays.equals(((PGsparsevec) row.getObject(3)).toArray(), s.toArray())
        && row.getDouble(4) == 0;
  }

  public static void main(String[] arguments) throws SQLException {
    String url = "jdbc:postgresql://127.0.0.1:" + System.getenv("PGPORT") + "/" + System.getenv("PGDATABASE");
    int equal = 0;
    try (Connection connection = DriverManager.getConnection(url, System.getenv("PGUSER"), "")) {
      PGvector.registerTypes(connection);
      try (var statement = connection.createStatement()) {
        statement.execute("CREATE TABLE java_items (id serial PRIMARY KEY, v vector(3), h halfvec(3), s sparsevec(3))");
      }
      var v = new PGvector(new float[] {1.5f, -2, 3});
      var h = new PGhalfvec(new float[] {1.5f, -2, 3});
      var s = new PGsparsevec(new float[] {1.5f, 0, 3});
      try (var insert = connection.prepareStatement("INSERT INTO java_items (v, h, s) VALUES (?, ?, ?)");
          var select = connection.prepareStatement("SELECT v, h, s, v <-> ? FROM java_items ORDER BY 4, id DESC LIMIT 1")) {
        for (int i = 0; i < USES; i++) {
          insert.setObject(1, v);
          insert.setObject(2, h);
          insert.setObject(3, s);
          insert.execute();
          select.setObject(1, v);
          try (ResultSet rows = select.executeQuery()) {
            equal += rows.next() && same(rows, v, h, s) ? 1 : 0;
          }
        }
      }
    }
    System.out.println((equal == USES ? "ok" : "not ok") + " 1 - JDBC: three types come back\n1..1");
    System.exit(equal == USES ? 0 : 1);
  }
}
