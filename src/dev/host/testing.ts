/** Test helpers for children: the isolations that work here, and the host's processes by their command lines. */
import { spawnSync } from "node:child_process";
import { randomBytes } from "node:crypto";
import { readdirSync, readFileSync, readlinkSync } from "node:fs";
import type { ExecSpec } from "../../kernel/ports/host.ts";
import { groupIsolation, IsolationFinder, parentDeathPrefix } from "./isolation.ts";
import type { Isolation } from "./job.ts";
import { landlockKeeper } from "./landlock.ts";
import { findProcess, listPids } from "./procfs.ts";
import { SandboxFinder } from "./sandbox/probe.ts";
import { type Wrapper, wrappersHere } from "./wrapper.ts";

/** Best first. */
export function isolationsHere(): readonly Isolation[] {
  const prefix = parentDeathPrefix();
  return [
    ...wrappersHere().flatMap(isolationBy),
    ...(prefix.length > 0 ? [groupIsolation(prefix)] : []),
    groupIsolation([]),
  ];
}

function isolationBy(wrapper: Wrapper): readonly Isolation[] {
  const isolation = new IsolationFinder({ wrappers: [wrapper] }).get();
  return isolation.wrapper === undefined ? [] : [isolation];
}

/** Every way in which programs can be confined here, each as the options of HostProcesses that select it. */
export function confinersHere() {
  return [...wrappersHere().flatMap(confinerBy), ...ruleConfiners()];
}

function confinerBy(wrapper: Wrapper) {
  const state = new SandboxFinder({ wrappers: [wrapper] }).get();
  const [isolation] = isolationBy(wrapper);
  if (!state.available || isolation === undefined) return [];
  return [{ kind: state.kind, by: { isolation: () => isolation, sandbox: () => state } }];
}

/** Without namespaces: what is not confined is known by its marks alone. */
function ruleConfiners() {
  const state = new SandboxFinder({ wrappers: [], keeper: landlockKeeper() }).get();
  if (!state.available) return [];
  return [
    { kind: state.kind, by: { isolation: () => groupIsolation(parentDeathPrefix()), sandbox: () => state } },
  ];
}

/** A program in the place of bubblewrap: a shell script. */
export function bwrapAt(path: string): readonly Wrapper[] {
  return [{ kind: "bubblewrap", words: [path] }];
}

/** A unique process name; `exec -a <tag>` gives it to a process. */
export function newTag(): string {
  return `tag-${randomBytes(6).toString("hex")}`;
}

/** Living processes of the host whose command line, joined by blanks, begins with `start`. */
export function running(start: string): number[] {
  return listPids().filter((pid) => commandOf(pid).startsWith(start) && findProcess(pid) !== undefined);
}

/** Living processes whose command line contains `tag`, including those that wrap the program. */
export function naming(tag: string): number[] {
  return listPids().filter((pid) => commandOf(pid).includes(tag) && findProcess(pid) !== undefined);
}

/** The command line, joined by blanks; empty if the process has ended. */
export function commandOf(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, "utf8").split("\0").join(" ").trim();
  } catch {
    return "";
  }
}

/** What this process has open: each descriptor, with what it is. */
export function openDescriptors(): readonly string[] {
  return readdirSync("/proc/self/fd").flatMap((fd) => {
    try {
      return [`${fd} ${readlinkSync(`/proc/self/fd/${fd}`)}`];
    } catch {
      // the one that reads the folder
      return [];
    }
  });
}

/** What was opened since `before` and is open still; a count would depend on what other tests close meanwhile. */
export function openedSince(before: readonly string[]): readonly string[] {
  return openDescriptors().filter((each) => !before.includes(each));
}

/**
 * A script for node: tries to open each file below its arguments for writing, and prints the ones it could open;
 * symbolic links are not followed.
 */
export const TRIES_TO_WRITE = `const fs = require("node:fs");
const look = (dir) => { try { return fs.readdirSync(dir, { withFileTypes: true }); } catch { return []; } };
const left = process.argv.slice(1);
for (let dir = left.pop(); dir !== undefined; dir = left.pop())
  for (const entry of look(dir)) {
    const path = dir + "/" + entry.name;
    if (entry.isDirectory()) left.push(path);
    if (!entry.isFile()) continue;
    try { fs.closeSync(fs.openSync(path, fs.constants.O_WRONLY | fs.constants.O_NONBLOCK)); console.log(path); } catch {}
  }`;

/** bash without start-up files; `out()` returns its output so far, both streams in order of arrival. */
export function bashSpec(script: string, fields: Partial<ExecSpec> = {}): { spec: ExecSpec; out(): string } {
  const chunks: string[] = [];
  const spec: ExecSpec = {
    argv: ["bash", "--norc", "-c", script],
    cwd: "/",
    env: { PATH: process.env.PATH ?? "", LANG: "C" },
    owner: "test",
    onOutput: (_stream, chunk) => void chunks.push(chunk.toString("utf8")),
    ...fields,
  };
  return { spec, out: () => chunks.join("") };
}

/**
 * The descriptors that `ls` has open when it is started from here without a sandbox, as it prints them on one line: its
 * own, and those that whoever started the tests left open.
 */
export function openInPrograms(): string {
  const { stdout } = spawnSync("bash", ["-c", "ls /proc/self/fd | tr '\\n' ' '"], { encoding: "utf8" });
  return stdout;
}
