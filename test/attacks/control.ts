/**
 * The same commands with nothing between them and the machine: what they touch when nobody holds them back. An attack that could
 * not have done anything would show nothing.
 */
import { spawnSync } from "node:child_process";
import { mkdirSync, rmSync } from "node:fs";
import { CARELESS, placed } from "./attempt.ts";
import {
  differences,
  HOME,
  Listener,
  makeSite,
  prepare,
  prepareShared,
  SECRET,
  sharedSnapshot,
} from "./site.ts";
import { ATTACKS, type Attack } from "./table.ts";

export interface Bite {
  readonly text: string;
  readonly expected: Attack["expected"];
  /** What it changed, in its folder and elsewhere, whom it reached, and "secret" where it showed one. */
  readonly touched: readonly string[];
}

/** It would set the clock of the machine if anything let it. */
const NEVER = /^date -s/;
const timeoutMs = 1_500;
const STATE = "/arena/state";

export async function control(_: object, tell: (bite: Bite) => void): Promise<void> {
  prepare();
  const listener = new Listener();
  await listener.open();
  for (const [i, attack] of ATTACKS.entries())
    if (attack.tool === "bash" && !NEVER.test(attack.text))
      tell(await bite(attack, `control-${i}`, listener));
  listener.close();
}

async function bite(attack: Attack, name: string, listener: Listener): Promise<Bite> {
  const site = makeSite(name, attack.hardLink);
  prepareShared();
  mkdirSync(STATE, { recursive: true });
  const [before, heard] = [sharedSnapshot(), listener.heard.length];
  const places = { state: STATE, runtime: STATE, port: String(listener.port), workspace: site.work };
  const { input } = placed(attack, places);
  const shown = runFreely(String(input.command), site.work);
  // connections are told of in a turn of their own
  await new Promise((resolve) => setImmediate(resolve));
  const touched = [
    ...site.changes(),
    ...differences(before, sharedSnapshot()),
    ...listener.heard.slice(heard),
    ...(shown.includes(SECRET) ? ["secret"] : []),
  ];
  rmSync(site.work, { recursive: true, force: true });
  return { text: attack.text, expected: attack.expected, touched };
}

function runFreely(command: string, cwd: string): string {
  // what no process could be given as an argument did not run
  if (command.includes("\0")) return "";
  const env = { PATH: "/usr/local/bin:/usr/bin:/bin", HOME, ...CARELESS };
  const options = { cwd, env, timeout: timeoutMs, killSignal: "SIGKILL", encoding: "utf8" } as const;
  const { stdout } = spawnSync("bash", ["--noprofile", "--norc", "-c", command], options);
  return stdout ?? "";
}
