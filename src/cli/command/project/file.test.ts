import { hash } from "node:crypto";
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { Fault } from "../../../abi/errors.ts";
import { parseComposeArgs } from "./compose.ts";
import { findProject, readComposeFile } from "./file.ts";

let root: string;
beforeEach(() => {
  root = realpathSync(mkdtempSync(join(tmpdir(), "crux-compose-")));
});
afterEach(() => rmSync(root, { recursive: true }));

function write(path: string, text = "services: {}\n"): void {
  mkdirSync(dirname(join(root, path)), { recursive: true });
  writeFileSync(join(root, path), text);
}
const at = (cwd: string, env: Record<string, string> = {}) => ({ cwd: join(root, cwd), env });
const args = (...argv: string[]) => parseComposeArgs([...argv, "up"]);

function refusal(act: () => unknown): { code: string; message: string } {
  try {
    act();
  } catch (error) {
    const { code, message } = error as Fault;
    expect(error).toBeInstanceOf(Fault);
    return { code, message: message.replaceAll(root, "ROOT") };
  }
  throw new Error("was not refused");
}

describe("readComposeFile()", () => {
  test("looks from the working directory up to the root of the repository", () => {
    mkdirSync(join(root, "desk/.git"), { recursive: true });
    mkdirSync(join(root, "desk/a/b"), { recursive: true });
    write("crux.compose.yaml");
    expect(refusal(() => readComposeFile(args(), at("desk/a/b")))).toEqual({
      code: "NOT_FOUND",
      message: "no crux.compose.yaml or crux.compose.yml in ROOT/desk/a/b, ROOT/desk/a, ROOT/desk",
    });
    write("desk/crux.compose.yml", "services: { far: {} }");
    expect(readComposeFile(args(), at("desk/a/b"))).toEqual({
      file: { services: { far: {} } },
      dir: join(root, "desk"),
      digest: hash("sha256", "services: { far: {} }"),
    });
    write("desk/a/crux.compose.yml", "services: { yml: {} }");
    expect(readComposeFile(args(), at("desk/a/b")).file).toEqual({ services: { yml: {} } });
    write("desk/a/crux.compose.yaml", "services: { near: {} }");
    expect(readComposeFile(args(), at("desk/a/b"))).toEqual({
      file: { services: { near: {} } },
      dir: join(root, "desk/a"),
      digest: hash("sha256", "services: { near: {} }"),
    });
  });

  test("outside of a repository takes only that of the working directory", () => {
    write("crux.compose.yaml");
    mkdirSync(join(root, "a"));
    expect(refusal(() => readComposeFile(args(), at("a"))).message).toBe(
      "no crux.compose.yaml or crux.compose.yml in ROOT/a",
    );
    expect(readComposeFile(args(), at(".")).dir).toBe(root);
  });

  test("-f names another, -p another project", () => {
    write("other/my.yaml", "services: { a: {} }");
    mkdirSync(join(root, "here"));
    expect(readComposeFile(args("-f", "../other/my.yaml", "-p", "mine"), at("here"))).toEqual({
      file: { services: { a: {} } },
      dir: join(root, "other"),
      project: "mine",
      digest: hash("sha256", "services: { a: {} }"),
    });
    expect(refusal(() => readComposeFile(args("-f", "no.yaml"), at("here")))).toEqual({
      code: "NOT_FOUND",
      message: "compose file not found: no.yaml",
    });
    expect(refusal(() => readComposeFile(args("-f", "../other"), at("here")))).toEqual({
      code: "INVALID",
      message: "../other: cannot be read (EISDIR)",
    });
  });

  test("fills in the client's variables, and names the place of one that is missing", () => {
    write("crux.compose.yaml", "services:\n  a:\n    command: [echo, '${WORD:-hi}', \"$$X\", '${LAST}']\n");
    expect(readComposeFile(args(), at(".", { LAST: "x" })).file).toEqual({
      services: { a: { command: ["echo", "hi", "$X", "x"] } },
    });
    expect(refusal(() => readComposeFile(args(), at(".")))).toEqual({
      code: "INVALID",
      message: "services.a.command[3]: variable LAST is not set",
    });
  });

  test("names file, line and column of what is no YAML, and bounds what it reads", () => {
    write("sub/crux.compose.yaml", "services:\n  a: [\n");
    mkdirSync(join(root, "sub/.git"));
    mkdirSync(join(root, "sub/in"));
    expect(refusal(() => readComposeFile(args(), at("sub/in")))).toMatchObject({
      code: "INVALID",
      message: expect.stringMatching(/^\.\.\/crux\.compose\.yaml: line 3, column 1: /),
    });
    write("crux.compose.yaml", `# ${"x".repeat(1024 * 1024)}\n`);
    expect(refusal(() => readComposeFile(args(), at(".")))).toEqual({
      code: "INVALID",
      message: "crux.compose.yaml: longer than 1048576 bytes",
    });
    expect(refusal(() => readComposeFile(args("-f", "/dev/zero"), at("."))).code).toBe("INVALID");
  });
});

describe("findProject()", () => {
  test("is -p, the file's name, the directory's: also of a file that is wrong elsewhere", () => {
    write("Release Notes/crux.compose.yaml", "services: { a: { command: ['${NOT_SET}'] }, b: 3 }\n");
    const there = at("Release Notes", { WHO: "ada" });
    expect(findProject(args(), there)).toBe("release-notes");
    expect(findProject(args("-p", "mine"), there)).toBe("mine");
    write("Release Notes/crux.compose.yaml", "name: notes-${WHO}\nservices: 3\n");
    expect(findProject(args(), there)).toBe("notes-ada");
  });

  test("with -p needs no file", () => {
    expect(findProject(args("-p", "mine"), at("."))).toBe("mine");
    expect(refusal(() => findProject(args(), at("."))).code).toBe("NOT_FOUND");
  });
});
