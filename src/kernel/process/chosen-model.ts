/**
 * The model that the user chooses for a process that is there already. It is a fact of the process; the program takes it
 * between two requests, so a request in progress is not touched. Only the user chooses, which is also the right to its device.
 */
import { Fault } from "../../abi/errors.ts";
import type { Pid } from "../../abi/ids.ts";
import type { Effort, Thinking } from "../../abi/llm.ts";
import type { ModelPlace } from "../../abi/loop.ts";
import type { ChosenModel, ModelStart } from "../../abi/program.ts";
import { modelWords } from "../../lib/text/model-words.ts";
import { type LiveFacet, plainFacet, type RecordBody } from "../facts/facet.ts";
import type { KernelPorts } from "../ports/kernel-ports.ts";
import type { ModelAnswering, ModelWish } from "../ports/models.ts";
import { fallbackWindowsOf, windowOf } from "./model-window.ts";
import { type Noting, notable } from "./note.ts";
import type { Process } from "./process.ts";

interface Kept extends ModelPlace {
  /** How often another model was chosen. */
  readonly count: number;
  readonly thinking?: Thinking;
  readonly effort?: Effort;
  readonly fallbacks?: readonly ModelPlace[];
}

/** null: the model with which it began. */
export const chosenModelFacet: LiveFacet<Kept | null> = plainFacet("chosenModel", {
  init: null as Kept | null,
  folds: { "process.model": (now, body) => read(body, now?.count ?? 0) },
  fork: (origin) => origin,
  isHeld: true,
});

function read({ by: _by, ...chosen }: RecordBody, before: number): Kept {
  return { ...(chosen as unknown as Omit<Kept, "count">), count: before + 1 };
}

type Choosing = Omit<Noting, "table"> & {
  readonly ports: { readonly models: Pick<KernelPorts["models"], "resolve" | "doubt"> };
  readonly table: { get(pid: Pid): Process | undefined };
};

/**
 * Resolves once the choice is synced. NOT_FOUND: no such process, or no such driver. CONFLICT: it has ended. INVALID: it
 * is not an agent. UNAVAILABLE: the model is not set up in the environment of the process.
 */
export async function chooseModel(core: Choosing, pid: Pid, wish: ModelWish): Promise<ModelAnswering> {
  const { env, by } = wish;
  const proc = await notable(core, pid, { syscall: "Model", what: "model", env });
  if (proc.seed.kind !== "agent")
    throw new Fault({ code: "INVALID", message: `process ${pid} is not an agent: no model answers it` });
  const { thinking: limit, effort: before, fallbacks } = proc.model;
  const effort = wish.effort ?? (limit?.mode === "budget" ? limit.tokens : before);
  const { fallbackModels = [] } = wish;
  const found = await core.ports.models.resolve(
    {
      ...{ model: wish.model ?? modelName(proc), provider: "", preferred: "" },
      ...{ fallbackModels, env: proc.seed.env, cwd: proc.seed.cwd },
      ...(effort === undefined ? {} : { effort }),
    },
    proc.abort.signal,
  );
  const { device, model: name, thinking } = found;
  const asked = found.effort === undefined ? {} : { effort: found.effort };
  const body = {
    ...{ device, model: name, by },
    ...(thinking === undefined ? {} : { thinking }),
    ...asked,
    fallbacks: (wish.fallbackModels === undefined ? fallbacks : (found.fallbacks ?? [])).filter(
      (each) => each.device !== device || each.model !== name,
    ),
  };
  const { uuid } = proc.seed;
  await core.ports.journal.append([{ proc: uuid, pid, kind: "process.model", v: 1, body }]);
  proc.facts.change(chosenModelFacet, "process.model", body);
  const note = wish.model === undefined ? undefined : core.ports.models.doubt?.(device, name, proc.seed);
  return {
    ...{ device, model: name, ...asked, from: proc.conversation === null ? "step" : "run" },
    ...(note === undefined ? {} : { note }),
  };
}

/** The model that will answer it, as `--model` has it. */
function modelName({ facts, model: { device, name } }: Process): string {
  const next = facts.of(chosenModelFacet) ?? { device, model: name };
  return `${next.device.slice("/dev/llm/".length)}/${next.model}`;
}

type Taking = Parameters<typeof windowOf>[0] & {
  readonly ports: { readonly models: Pick<KernelPorts["models"], "supportsImages"> };
};

/** The reason why a message cannot have pictures: the model that will answer takes none. undefined: it takes them. */
export function whyUnseen({ ports }: Pick<Taking, "ports">, proc: Process): string | undefined {
  const { device, name: model } = proc.model;
  const next = proc.facts.of(chosenModelFacet) ?? { device, model };
  if (ports.models.supportsImages?.(next.device, next.model, proc.seed.env) === true) return undefined;
  return `${modelWords(next)} takes no pictures; crux model list shows which do`;
}

/** Makes what the user has chosen the model of the process; null: nothing was chosen. */
export function takeChosen(core: Taking, proc: Process): ChosenModel | null {
  const kept = proc.facts.of(chosenModelFacet);
  if (kept === null) return null;
  const { count, ...choice } = kept;
  if (proc.model.device !== choice.device || proc.model.name !== choice.model) proc.model.choose(choice);
  const images = core.ports.models.supportsImages?.(choice.device, choice.model, proc.seed.env) ?? false;
  return { ...modelStartOf(core, proc), chosen: count, images };
}

/** The model of a process, as its program is started with it. */
export function modelStartOf(core: Taking, proc: Process): ModelStart {
  const { device, name, maker, asks, fallbacks } = proc.model;
  const window = windowOf(core, proc);
  return {
    modelDevice: device,
    model: name,
    ...(maker === "" ? {} : { maker }),
    ...asks,
    ...(fallbacks.length === 0 ? {} : { fallbacks, fallbackWindows: fallbackWindowsOf(core, proc) }),
    ...(window === undefined ? {} : { window }),
  };
}

/** How often another model was chosen for a process. */
export function timesChosen({ facts }: Process): number {
  return facts.of(chosenModelFacet)?.count ?? 0;
}
