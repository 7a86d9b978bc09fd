/** While a person reads the question, the file becomes a link to another. What is then written is what was asked, or nothing. */
import { renameSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { modelEnv } from "../harness/model.ts";
import { Wire } from "../harness/wire.ts";
import { Field } from "./attempt.ts";
import { differences, makeSite, sharedSnapshot } from "./site.ts";

export interface Race {
  readonly target: string;
  readonly result: string;
  readonly elsewhere: readonly string[];
}

const TARGETS = ["/outside/file", "/etc/hosts", "/home/u/.bashrc", "/outside/new"];

export async function race(_: object, tell: (race: Race) => void): Promise<void> {
  const field = await Field.open();
  for (const target of TARGETS) tell(await swapped(field, target));
  await field.close();
}

async function swapped(field: Field, target: string): Promise<Race> {
  const name = field.script("write", { file_path: "note", content: "attacked\n" });
  const { work } = makeSite(name);
  const before = sharedSnapshot();
  const env = { ...field.world.env, ...modelEnv(field.server) };
  await using wire = await Wire.open(field.world.socket);
  await using hand = await Wire.open(field.world.socket);
  await wire.ask("spawn", { intent: name, cwd: work, env, interactive: true });
  for (let line = await wire.next(); line !== undefined; line = await wire.next()) {
    if (line.payload?.event === "complete") break;
    if (line.payload?.event !== "ask") continue;
    symlinkSync(target, join(work, "swap"));
    renameSync(join(work, "swap"), join(work, "note"));
    await hand.ask("ask.answer", { ask_id: line.payload.ask_id, answer: "yes" });
  }
  return { target, result: field.resultOf(name), elsewhere: differences(before, sharedSnapshot()) };
}
