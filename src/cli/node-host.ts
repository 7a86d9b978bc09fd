import { lazyDaemon } from "./daemon-access.ts";
import type { Host } from "./host.ts";
import { Interrupts } from "./interrupts.ts";
import { NodeLifecycle } from "./node-lifecycle.ts";
import { hintLine } from "./screen/errors.ts";
import { wordsOf } from "./screen/language.ts";
import { streamKind } from "./stdio.ts";

/** The surroundings of a real command. stdin is opened only by who reads it. */
export function nodeHost(version: string): Host {
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
    daemon: lazyDaemon(version, process.env, (hint) => {
      process.stderr.write(`${hintLine(hint, wordsOf(process.env))}\n`);
    }),
  };
}
