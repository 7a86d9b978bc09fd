import { describe, expect, it } from "vitest";
import { secretValues } from "./secret-values.ts";

describe("secretValues()", () => {
  it("takes what has the name of a secret", () => {
    const env = {
      API_KEY: "a1-b2-c3-d4",
      OPENAI_API_KEY: "sk-1234567890",
      GITHUB_TOKEN: "ghp-0815-4711",
      DB_PASSWORD: "hunter2hunter2",
      AWS_SECRET_ACCESS_KEY: "wJalrXUtnFEMI/K7MDENG",
      PGPASS: "not-by-this-name-1",
    };
    expect(secretValues(env)).toEqual(Object.values(env).slice(0, 5));
  });

  it("takes the password of a URL by itself, too", () => {
    expect(secretValues({ DATABASE_URL: "postgres://joe:s3cret-w0rd@db/x" })).toEqual([
      "postgres://joe:s3cret-w0rd@db/x",
      "s3cret-w0rd",
    ]);
  });

  it("leaves words, numbers, switches and paths, which stand in other texts too", () => {
    const env = {
      DB_PASSWORD: "postgres",
      MAX_TOKENS: "200000000",
      USE_KEY: "true",
      A_CREDENTIALS: "/etc/keys/a.json",
    };
    expect(secretValues(env)).toEqual([]);
  });
});
