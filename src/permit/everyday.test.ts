/** Friction: how many of the texts that agents run all day, which change nothing, are a question in mode default. */
import { beforeAll, expect, test } from "vitest";
import { bash, run, subject } from "./contract.ts";
import { makePermit } from "./policy.ts";
import { loadParser } from "./shell/parser.ts";
import { EVERYDAY, HELD_OUT } from "./testing/everyday.ts";

beforeAll(async () => {
  await loadParser();
});

const permit = makePermit({
  rules: [],
  defaultMode: "default",
  additionalDirectories: [],
  home: "/home/u",
  kernelPaths: ["/home/u/.local/state/crux", "/run/user/1000/crux"],
  isTrusted: true,
  projectRoot: "/workspace",
  realPath: (path) => path,
  exists: (path) => path === "/workspace/.git",
});

function asked(text: string): boolean {
  const effect = { ...bash(text), cwd: "/workspace" } as ReturnType<typeof bash>;
  const who = subject({ cwd: "/workspace", roots: ["/workspace"], free: [] });
  return run(permit, "bash", [effect], who).behavior !== "allow";
}

test.each([
  ["everyday texts", EVERYDAY, "168 (47.2 %)"],
  ["texts of another manner", HELD_OUT, "23 (20.4 %) when first tried"],
] as const)("%s: at most 15 %% ask", (_, texts, before) => {
  asked("ls");
  const asking = texts.filter(asked);
  const rate = (100 * asking.length) / texts.length;
  console.log(`friction: ${asking.length} of ${texts.length} ask (${rate.toFixed(1)} %), before: ${before}`);
  expect(rate).toBeLessThanOrEqual(15);
});
