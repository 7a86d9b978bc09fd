import { Fault } from "../../abi/errors.ts";
import { isUnnamed } from "../../wire/codec/address.ts";
import { lazyDaemon } from "../daemon/access.ts";
import { hintLine } from "../screen/errors.ts";
import { wordsOf } from "../screen/text/language.ts";
import { Interrupts } from "../terminal/interrupts.ts";
import type { Host } from "./host.ts";
import { NodeLifecycle } from "./node-lifecycle.ts";
import { streamKind } from "./stream-kind.ts";

/** The host of a real command. stdin is opened at its first use. */
export function nodeHost(
  version: string,
  command: Host["command"],
  { stdout, stderr }: Pick<Host, "stdout" | "stderr"> = process,
): Host {
  return {
    version,
    env: process.env,
    get cwd() {
      return currentFolder();
    },
    get stdin() {
      return process.stdin;
    },
    stdout,
    stderr,
    get stdinKind() {
      return streamKind(0);
    },
    get stdoutKind() {
      return streamKind(1);
    },
    interrupts: new Interrupts(process),
    lifecycle: new NodeLifecycle(process),
    command,
    daemon: lazyDaemon(version, process.env, (hint) => {
      stderr.write(`${hintLine(hint, wordsOf(process.env))}\n`, () => {});
    }),
  };
}

/** NOT_FOUND: it was removed. INVALID: Node cannot name it. Commands that need none work all the same. */
function currentFolder(): string {
  try {
    const path = process.cwd();
    if (!isUnnamed(path)) return path;
  } catch (cause) {
    throw new Fault({
      code: "NOT_FOUND",
      message: "the current folder was removed",
      hint: "cd to a folder that is there",
      cause,
    });
  }
  throw new Fault({
    code: "INVALID",
    message: "the path of the current folder is not in UTF-8",
    hint: "rename it, or work in another folder",
  });
}
