import { lazyDaemon } from "../daemon/access.ts";
import { hintLine } from "../screen/errors.ts";
import { wordsOf } from "../screen/text/language.ts";
import { Interrupts } from "../terminal/interrupts.ts";
import type { Host } from "./host.ts";
import { NodeLifecycle } from "./node-lifecycle.ts";
import { streamKind } from "./stream-kind.ts";

/** The host of a real command. stdin is opened at its first use. */
export function nodeHost(version: string, command: Host["command"]): Host {
  return {
    version,
    env: process.env,
    cwd: process.cwd(),
    get stdin() {
      return process.stdin;
    },
    stdout: process.stdout,
    stderr: process.stderr,
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
      process.stderr.write(`${hintLine(hint, wordsOf(process.env))}\n`);
    }),
  };
}
