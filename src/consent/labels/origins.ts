/**
 * Data that a permitted call reads gives its process labels as soon as it arrives (inflow.ts); files it writes get the
 * labels of the process. The reads of a command cannot be observed: its labels are added before it runs. All of this
 * happens in one place, the gate. If the policy fails, the origin of the data is unknown: it counts as untrusted.
 */
import type { Effect } from "../../abi/effects.ts";
import { messageOf } from "../../abi/errors.ts";
import { type CallId, PID_KERNEL } from "../../abi/ids.ts";
import type { Label } from "../../abi/labels.ts";
import type { Intake } from "../../kernel/gate/consent.ts";
import { requestOf } from "../../kernel/gate/decide.ts";
import { type EntryWord, type FileAccess, filesOf } from "../../kernel/gate/host-files.ts";
import type { Passage } from "../../kernel/gate/passage.ts";
import { Inflow } from "../../kernel/labels/inflow.ts";
import { isSame } from "../../kernel/labels/label-set.ts";
import { addLabels, type LabelKeeper } from "../../kernel/labels/labelled.ts";
import type { KernelPorts } from "../../kernel/ports/kernel-ports.ts";
import type { Origins, PermitRequest } from "../../kernel/ports/permit.ts";
import type { Process } from "../../kernel/process/process.ts";
import { type Granting, subjectOf } from "../../kernel/process/subject.ts";
import type { FileLabels } from "./file-labels.ts";

/** The most files of one call whose content is checked; beyond, all count as labelled. */
const MAX_LOOKS = 64;
const BRINGS: ReadonlySet<Effect["kind"]> = new Set(["network", "mcp", "read", "exec"]);
/** The most files of one inner call; beyond, it gets the labels of its whole outer call. */
const MAX_FILES = 1_024;
const NOTHING: Origins = { labels: [], reads: [], writes: [] };

const NONE: Intake = { scope: {}, kept: async () => {} };

/** What observing the origins of data needs of the kernel. */
export type Observing = FileAccess &
  LabelKeeper &
  Policing & { readonly fileLabels: Pick<FileLabels, "at" | "wrote" | "size"> };

type Policing = Granting & { readonly ports: Pick<KernelPorts, "log"> };

export async function takeOrigins(core: Observing, passage: Passage): Promise<Intake> {
  const { self, scope } = passage;
  const { callId, effects } = scope;
  if (self.pid === PID_KERNEL || !effects.some(({ kind }) => BRINGS.has(kind))) return NONE;
  const { labels, reads, writes } = originsOf(core, self, requestOf(scope));
  const known = reads.flatMap(({ path, isSubtree }) => core.fileLabels.at(path, isSubtree));
  const all = known.length === 0 ? labels : [...labels, ...(await labelsOfFiles(core, callId, known))];
  const secret = labels.some(({ kind }) => kind === "secret") ? { isSecret: true as const } : {};
  const kept = (): Promise<void> => keepWritten(core, passage, writes);
  if (all.length === 0) return { scope: secret, kept };
  const add = (came: readonly Label[]): void => addLabels(core, self, came);
  const isCommand = effects.some(({ kind }) => kind === "exec");
  if (isCommand) add(all);
  return { scope: isCommand ? secret : { ...secret, inflow: new Inflow(all, add) }, kept };
}

export function partOfInflow(
  core: Observing,
  { self, scope }: Passage,
  effects: readonly Effect[],
): Inflow | undefined {
  const { inflow } = scope;
  if (inflow === undefined || !effects.some(({ kind }) => BRINGS.has(kind))) return undefined;
  if (effects.length > MAX_FILES) return inflow.part(inflow.labels);
  const { labels, reads } = originsOf(core, self, requestOf({ ...scope, effects }));
  const ofFiles = reads.flatMap(({ path, isSubtree }) => core.fileLabels.at(path, isSubtree));
  // a file whose content had changed when the outer call checked it brings no labels
  const known = ofFiles
    .flatMap((file) => file.labels)
    .filter((label) => inflow.labels.some((each) => isSame(each, label)));
  return inflow.part([...labels, ...known]);
}

function originsOf(core: Policing, self: Process, request: PermitRequest): Origins {
  const policy = core.ports.permitFor(self.seed.cwd);
  if (policy.origins === undefined) return NOTHING;
  try {
    return policy.origins(subjectOf(core, self), request);
  } catch (error) {
    core.ports.log("error", `origins: ${messageOf(error)}`);
    return { ...NOTHING, labels: [{ kind: "untrusted", source: "exec", detail: request.tool }] };
  }
}

type Known = ReturnType<FileLabels["at"]>;

/** The labels of those files whose content is still what was recorded. */
async function labelsOfFiles(core: FileAccess, callId: CallId, known: Known): Promise<readonly Label[]> {
  const looked = known.slice(0, MAX_LOOKS);
  const words = await look(
    core,
    callId,
    looked.map(({ path }) => path),
  );
  const same = looked.filter(({ sha256 }, i) => words[i] === undefined || words[i] === `sha256:${sha256}`);
  return [...same, ...known.slice(MAX_LOOKS)].flatMap(({ labels }) => labels);
}

/** Records the files that the call's command wrote, as far as the command shows them. */
async function keepWritten(
  core: Observing,
  { self, scope }: Passage,
  writes: readonly string[],
): Promise<void> {
  const paths = [...new Set(writes)].slice(0, MAX_LOOKS);
  if (paths.length === 0 || (self.labels.length === 0 && core.fileLabels.size === 0)) return;
  const words = await look(core, scope.callId, paths);
  for (const [i, word] of words.entries())
    if (word?.startsWith("sha256:") === true)
      core.fileLabels.wrote(paths[i] ?? "", word.slice("sha256:".length), self.labels);
}

/** undefined: it cannot be read. */
async function look(
  core: FileAccess,
  callId: CallId,
  paths: readonly string[],
): Promise<readonly (EntryWord | undefined)[]> {
  const effects = paths.map((path): Effect => ({ kind: "read", path, real: path }));
  const files = filesOf(core, { callId, tool: "labels", effects });
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
