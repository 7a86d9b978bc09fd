/**
 * What a permitted call reads gives its process labels, once it has come (inflow.ts); what it writes has those of the process. A
 * command is not seen reading: its labels come before it runs. One place for all calls: the gate. A policy that fails, or says nothing, has let data in that nobody knows: it counts as untrusted.
 */
import type { Effect } from "../../abi/effects.ts";
import { messageOf } from "../../abi/errors.ts";
import { type CallId, PID_KERNEL } from "../../abi/ids.ts";
import type { Label } from "../../abi/labels.ts";
import { HostFiles } from "../../history/fork/host-files.ts";
import type { EntryWord } from "../../history/fork/snapshot.ts";
import type { Core } from "../../kernel/core.ts";
import type { Scope } from "../../kernel/gate/scope.ts";
import type { Origins, PermitRequest } from "../../kernel/ports/permit.ts";
import type { Process } from "../../kernel/process/process.ts";
import { subjectOf } from "../../kernel/process/subject.ts";
import { Inflow } from "./inflow.ts";
import { isSame } from "./label-set.ts";
import { addLabels } from "./labels.ts";

/** Files of one call whose content is looked at; of more, all count. */
const MAX_LOOKS = 64;
const BRINGS: ReadonlySet<Effect["kind"]> = new Set(["network", "mcp", "read", "exec"]);
/** Of one call at most: what does not fit counts as the whole. */
const MAX_FILES = 1_024;
const NOTHING: Origins = { labels: [], reads: [], writes: [] };

interface Taken {
  /** A person, or a rule, let it read a secret. */
  readonly isSecret: boolean;
  /** Absent: nothing that it reads has labels. */
  readonly inflow?: Inflow;
  /** After the act: what it wrote is on record. */
  readonly kept: () => Promise<void>;
}

const NONE: Taken = { isSecret: false, kept: async () => {} };

export async function takeOrigins(
  core: Core,
  self: Process,
  request: PermitRequest,
  callId: CallId,
): Promise<Taken> {
  if (self.pid === PID_KERNEL || !request.effects.some(({ kind }) => BRINGS.has(kind))) return NONE;
  const { labels, reads, writes } = originsOf(core, self, request);
  const known = reads.flatMap(({ path, isSubtree }) => core.fileLabels.at(path, isSubtree));
  const all = known.length === 0 ? labels : [...labels, ...(await labelsOfFiles(core, callId, known))];
  const taken = {
    isSecret: labels.some(({ kind }) => kind === "secret"),
    kept: () => keepWritten(core, self, callId, writes),
  };
  if (all.length === 0) return taken;
  const add = (came: readonly Label[]): void => addLabels(core, self, came);
  if (!request.effects.some(({ kind }) => kind === "exec")) return { ...taken, inflow: new Inflow(all, add) };
  add(all);
  return taken;
}

/** Of a call within it, by the program that it runs: only what that reads has come. */
export function partOfInflow(
  core: Core,
  self: Process,
  { inflow }: Scope,
  request: PermitRequest,
): Inflow | undefined {
  if (inflow === undefined || !request.effects.some(({ kind }) => BRINGS.has(kind))) return undefined;
  if (request.effects.length > MAX_FILES) return inflow.part(inflow.labels);
  const { labels, reads } = originsOf(core, self, request);
  const ofFiles = reads.flatMap(({ path, isSubtree }) => core.fileLabels.at(path, isSubtree));
  // of a file that was another when it was looked at, before the call, the whole has none
  const known = ofFiles
    .flatMap((file) => file.labels)
    .filter((label) => inflow.labels.some((each) => isSame(each, label)));
  return inflow.part([...labels, ...known]);
}

function originsOf(core: Core, self: Process, request: PermitRequest): Origins {
  const policy = core.ports.permitFor(self.seed.cwd);
  if (policy.origins === undefined) return NOTHING;
  try {
    return policy.origins(subjectOf(core, self), request);
  } catch (error) {
    core.ports.log("error", `origins: ${messageOf(error)}`);
    return { ...NOTHING, labels: [{ kind: "untrusted", source: "exec", detail: request.tool }] };
  }
}

type Known = ReturnType<Core["fileLabels"]["at"]>;

/** Of those that are still what was written. */
async function labelsOfFiles(core: Core, callId: CallId, known: Known): Promise<readonly Label[]> {
  const looked = known.slice(0, MAX_LOOKS);
  const words = await look(
    core,
    callId,
    looked.map(({ path }) => path),
  );
  const same = looked.filter(({ sha256 }, i) => words[i] === undefined || words[i] === `sha256:${sha256}`);
  return [...same, ...known.slice(MAX_LOOKS)].flatMap(({ labels }) => labels);
}

/** What a command of it has written, as far as the command says. */
async function keepWritten(
  core: Core,
  self: Process,
  callId: CallId,
  writes: readonly string[],
): Promise<void> {
  const paths = [...new Set(writes)].slice(0, MAX_LOOKS);
  if (paths.length === 0 || (self.labels.length === 0 && core.fileLabels.size === 0)) return;
  const words = await look(core, callId, paths);
  for (const [i, word] of words.entries())
    if (word?.startsWith("sha256:") === true)
      core.fileLabels.wrote(paths[i] ?? "", word.slice("sha256:".length), self.labels);
}

/** undefined: it cannot be looked at. */
async function look(
  core: Core,
  callId: CallId,
  paths: readonly string[],
): Promise<readonly (EntryWord | undefined)[]> {
  const effects = paths.map((path): Effect => ({ kind: "read", path, real: path }));
  const files = new HostFiles(core, core.handle(core.root, { callId, tool: "labels", effects }));
  const words: (EntryWord | undefined)[] = [];
  for (const path of paths)
    words.push(
      await files.look(path).then(
        ({ word }) => word,
        () => undefined,
      ),
    );
  return words;
}
