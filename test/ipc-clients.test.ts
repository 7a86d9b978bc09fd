/** The clients of the binary wire in other languages: each runs a program through the kernel, for real. */
import { execFile, spawnSync } from "node:child_process";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, it } from "vitest";
import { World } from "./harness/world.ts";

const run = promisify(execFile);
const clients = fileURLToPath(new URL("../clients", import.meta.url));

const world = new World();
beforeAll(async () => {
  await world.crux(["ps"]);
});
afterAll(() => world.close());

const python = spawnSync("python3", ["--version"]).status === 0;
it.skipIf(!python)("the client in Python runs a program through the kernel (needs python3)", async () => {
  const env = { ...process.env, PYTHONDONTWRITEBYTECODE: "1" };
  const { stdout } = await run("python3", [join(clients, "python/example.py"), world.socket], { env });
  expect(stdout.split("\n")).toEqual(["crux 1 user", "NOT_FOUND False", "a", "b", "c", "0", ""]);
});

const HEADER = { input: "#include <stdio.h>\n" };
const cc = spawnSync("cc", ["-x", "c", "-fsyntax-only", "-"], HEADER).status === 0;
it.skipIf(!cc)("the client in C runs a program through the kernel (needs cc)", async () => {
  const program = join(world.work, "example");
  const flags = ["-std=c99", "-pedantic", "-Wall", "-Wextra", "-Werror"];
  await run("cc", [...flags, "-o", program, join(clients, "c/example.c")]);
  const { stdout } = await run(program, [world.socket]);
  expect(stdout.split("\n")).toEqual(["crux 1 user", "NOT_FOUND false", "a", "b", "c", "0", ""]);
});
