/** `crux memory`: the notes that agents keep, one of them, what is wrong with them, and forgetting one. */
import { readFile } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { Fault } from "../../../abi/errors.ts";
import type { Note } from "../../../abi/methods/memory.ts";
import { nearNames } from "../../../lib/text/near-names.ts";
import { noWords, pidOf } from "../../args.ts";
import type { Call, Command } from "../../command.ts";
import type { DaemonClient } from "../../daemon/client.ts";
import { removeDurably, replaceDurably } from "../../host/durable-file.ts";
import { clientEnvironment } from "../../run/environment.ts";
import { workingDirectory } from "../../run/run-options.ts";
import { invalid } from "../../screen/errors.ts";
import { noteName, noteTable } from "../../screen/table/note-table.ts";
import { safeLine, safeLines } from "../../screen/text/safe-text.ts";
import { undoTidying } from "./memory-undo.ts";
import { runVerb, type Verb } from "./verbs.ts";

const USAGE = "crux memory [list | show <note> | check | forget <note> | undo | off <pid> | on <pid>]";
const INDEX = "MEMORY.md";
const VERBS: Readonly<Record<string, Verb>> = {
  ...{ list, show, check, forget, undo },
  off: (call, client, words) => turn(call, client, { words, on: false }),
  on: (call, client, words) => turn(call, client, { words, on: true }),
};

export const memory: Command = { flags: {}, run: (call) => runVerb(call, VERBS, "list", USAGE) };

function look({ args, host }: Call, client: DaemonClient) {
  return client.request("memory.list", { cwd: workingDirectory(args, host) });
}

async function list(call: Call, client: DaemonClient, words: readonly string[]): Promise<number> {
  const { args, console } = call;
  noWords({ ...args, words }, USAGE);
  const found = await look(call, client);
  const { folders, notes } = found;
  if (console.mode === "json") await console.data(found);
  else if (console.mode === "quiet") for (const { path } of notes) await console.line(safeLine(path));
  else {
    await console.line(notes.length === 0 ? "No notes." : noteTable(notes, console.room));
    await console.line(`This project: ${safeLine(folders.local)}`);
    await console.line(`You: ${safeLine(folders.user)}`);
  }
  return 0;
}

async function show(call: Call, client: DaemonClient, words: readonly string[]): Promise<number> {
  const { console } = call;
  const { path } = chosen((await look(call, client)).notes, words);
  const text = await readFile(path, "utf8");
  if (console.mode === "json") await console.data({ path, text });
  else {
    if (console.mode !== "quiet") await console.line(`# ${safeLine(path)}`);
    await console.line(safeLines(text.trimEnd()));
  }
  return 0;
}

/** Returns 1 if a note cannot be found or read by agents. */
async function check(call: Call, client: DaemonClient, words: readonly string[]): Promise<number> {
  const { args, console } = call;
  noWords({ ...args, words }, USAGE);
  const { notes } = await look(call, client);
  const wrong = notes.filter(({ problem }) => problem !== "");
  if (console.mode === "json") await console.data({ checked: notes.length, wrong });
  else for (const { path, problem } of wrong) await console.line(`${safeLine(path)}: ${safeLine(problem)}`);
  if (console.isScreen) await console.line(`${notes.length} checked, ${wrong.length} wrong`);
  return wrong.length === 0 ? 0 : 1;
}

async function forget(call: Call, client: DaemonClient, words: readonly string[]): Promise<number> {
  const { console } = call;
  const { path } = chosen((await look(call, client)).notes, words);
  if (basename(path) === INDEX) throw invalid("the index is not a note", `delete ${path} yourself`);
  await leaveOut(join(dirname(path), INDEX), basename(path));
  await removeDurably(path);
  if (console.mode === "json") await console.data({ forgotten: path });
  else if (console.mode !== "quiet") await console.line(`forgotten: ${safeLine(path)}`);
  return 0;
}

async function undo(call: Call, client: DaemonClient, words: readonly string[]): Promise<number> {
  noWords({ ...call.args, words }, USAGE);
  const { local, user } = (await look(call, client)).folders;
  return undoTidying(call, [local, user]);
}

interface Turned {
  readonly words: readonly string[];
  readonly on: boolean;
}

/** For one process: what it is told, recalls, keeps and may open. */
async function turn({ console, host }: Call, client: DaemonClient, { words, on }: Turned): Promise<number> {
  const [word, ...more] = words;
  if (word === undefined || more.length > 0) throw invalid("name one process", USAGE);
  const pid = pidOf(word, USAGE);
  const done = await client.request("context.memory", { pid, on, env: clientEnvironment(host.env) });
  if (console.mode === "json") await console.data({ ...done, on });
  else if (console.mode !== "quiet")
    await console.line(
      `Memory is ${on ? "on" : "off"} for process ${pid}${on ? "" : " and what it starts"}.`,
    );
  return 0;
}

/** The index without the lines that link to the note; replaced as a whole. */
async function leaveOut(index: string, name: string): Promise<void> {
  const text = await readFile(index, "utf8").catch(() => "");
  const left = text.split("\n").filter((line) => !line.includes(`(${name})`));
  if (left.length === text.split("\n").length) return;
  await replaceDurably(index, left.join("\n"));
}

/** By its path or its name, with or without `.md`; of two the one of the project. */
function chosen(notes: readonly Note[], words: readonly string[]): Note {
  const [wanted, ...more] = words;
  if (wanted === undefined || more.length > 0) throw invalid("name one note", USAGE);
  const isIt = ({ path }: Note) =>
    [path, noteName(path), noteName(path).replace(/\.md$/, "")].includes(wanted);
  const found = notes.find((note) => isIt(note) && note.scope === "local") ?? notes.find(isIt);
  if (found !== undefined) return found;
  const names = notes.map(({ path }) => noteName(path).replace(/\.md$/, ""));
  const near = nearNames(wanted, names, (known) => Math.ceil(known.length / 3)).join(", ");
  throw new Fault({
    code: "NOT_FOUND",
    message: `no such note: ${wanted}${near === "" ? "" : `. Near: ${near}`}`,
    hint: "crux memory lists them",
  });
}
