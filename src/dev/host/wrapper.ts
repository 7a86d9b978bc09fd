/**
 * The programs that make the namespaces of a child, behind one contract.
 *
 * A wrapper is started with options, `--`, and the argv of the first process. Its words are those of bubblewrap, of
 * which namespace.ts, sandbox/arguments.ts and sandbox/loopback.ts use a part; every wrapper understands that part, and
 * does with it what bwrap(1) says. In addition:
 *
 * - A child of the wrapper is the first process of the pid namespace, and its only child. It ends with the wrapper, and
 *   the wrapper with the process that started it. The wrapper ends when the namespace is empty, with the status of the
 *   first process, or 128 and the number of the signal that ended it.
 * - Only stderr is held open by the wrapper itself: the first process inherits all other descriptors.
 * - The program gains no rights by what it runs (no_new_privs), and in a user namespace it has none.
 * - What cannot be done as the options say is an error: a line on stderr that begins with the wrapper's name, a status
 *   other than 0, and nothing is started.
 *
 * The tests of namespaces and sandboxes run by every wrapper that works on the machine.
 */
import type { SandboxKind } from "../../abi/sandbox.ts";
import { isExecutable } from "../../lib/program-file.ts";
import { findSystemProgram } from "../program.ts";
import { wrapperInPerl } from "./wrapper-in-perl.ts";

export interface Wrapper {
  readonly kind: Extract<SandboxKind, "bubblewrap" | "namespaces">;
  /** The words put before the options; the first is an absolute path. */
  readonly words: readonly [string, ...string[]];
}

export const BWRAP = [
  "/usr/bin/bwrap",
  "/usr/local/bin/bwrap",
  "/bin/bwrap",
  "/run/current-system/sw/bin/bwrap",
];

let found: readonly Wrapper[] | undefined;

/** The wrappers that are installed, best first; whether one works is found out by trying it. Looked up once. */
export function wrappersHere(): readonly Wrapper[] {
  found ??= process.platform === "linux" ? [...bubblewrap(), ...inPerl()] : [];
  return found;
}

function bubblewrap(): readonly Wrapper[] {
  const path = BWRAP.find(isExecutable);
  return path === undefined ? [] : [{ kind: "bubblewrap", words: [path] }];
}

function inPerl(): readonly Wrapper[] {
  const perl = findSystemProgram("perl");
  const script = wrapperInPerl(process.arch);
  // -f and -t: neither the site nor the program's environment adds code; -C0: words are bytes
  return perl === undefined || script === undefined
    ? []
    : [{ kind: "namespaces", words: [perl, "-f", "-t", "-C0", "-e", script, "--"] }];
}
