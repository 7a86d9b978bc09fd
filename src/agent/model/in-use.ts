/**
 * The model that answers: the one of the process, or, for the rest of a run, one of its fallbacks. A fallback is opened
 * by the process itself, through the gate: it gives no right to a device.
 */
import { O_RDWR } from "../../abi/device.ts";
import { messageOf } from "../../abi/errors.ts";
import type { Fd } from "../../abi/ids.ts";
import type { Block } from "../../abi/llm.ts";
import type { ModelPlace } from "../../abi/loop.ts";
import type { ProgramStart } from "../../abi/program.ts";
import type { Sys } from "../../abi/sys.ts";
import { modelWords } from "../../lib/text/model-words.ts";

export interface ModelInUse extends ModelPlace {
  readonly fd: Fd;
  /** 0: the model of the process; n: its nth fallback. */
  readonly index: number;
  /** The mark of what only this model can read; "": that with which the process began, whose replies have none. */
  readonly maker: string;
}

type Models = Pick<ProgramStart, "modelFd" | "modelDevice" | "model" | "maker" | "fallbacks">;

export function ownModel({ modelFd: fd, modelDevice: device, model, maker = "" }: Models): ModelInUse {
  return { fd, device, model, index: 0, maker };
}

export function hasFallback({ fallbacks = [] }: Models, { index }: ModelInUse): boolean {
  return index < fallbacks.length;
}

/** The next fallback that the process may open; undefined: there is none. Closes the fallback in use. */
export async function nextFallback(
  sys: Sys,
  models: Models,
  now: ModelInUse,
): Promise<ModelInUse | undefined> {
  const { fallbacks = [] } = models;
  for (let index = now.index + 1; index <= fallbacks.length; index++) {
    const opened = await openFallback(sys, models, index);
    if (opened === undefined) continue;
    await release(sys, now);
    return opened;
  }
  return undefined;
}

/** The model with this index, as a later daemon needs it in the middle of a run; the own one if it cannot be opened. */
export async function modelAt(sys: Sys, models: Models, now: ModelInUse, index: number): Promise<ModelInUse> {
  if (now.index === index) return now;
  await release(sys, now);
  return (index === 0 ? undefined : await openFallback(sys, models, index)) ?? ownModel(models);
}

async function openFallback(sys: Sys, { fallbacks = [] }: Models, index: number) {
  const place = fallbacks[index - 1];
  if (place === undefined) return undefined;
  try {
    const maker = `${place.device} ${place.model}`;
    return { ...place, fd: await sys.open(place.device, O_RDWR, sys.ending), index, maker };
  } catch (error) {
    sys.ending.throwIfAborted();
    sys.log("warn", `model: ${modelWords(place)} cannot answer in its place: ${messageOf(error)}`);
    return undefined;
  }
}

/** Fails without harm where the handle was revoked: the kernel closes what is open at the end of a process. */
export async function release(sys: Sys, { fd, index }: ModelInUse): Promise<void> {
  if (index > 0) await sys.close(fd).catch(() => undefined);
}

export function bare({ device, model }: ModelInUse): ModelPlace {
  return { device, model };
}

/** The blocks with what only their model can read marked. */
export function markedBy(maker: string, blocks: readonly Block[]): Block[] {
  return blocks.map((block) => (maker !== "" && isBound(block) ? { ...block, maker } : block));
}

/** The blocks that this model can read, without their marks. */
export function readableBy(maker: string, blocks: readonly Block[]): readonly Block[] {
  return blocks.flatMap((block): Block[] => {
    if (!isBound(block)) return [block];
    const { maker: made = "", ...bare } = block;
    return made === maker ? [bare] : [];
  });
}

function isBound(block: Block): block is Extract<Block, { type: "thinking" | "redacted_thinking" }> {
  return block.type === "thinking" || block.type === "redacted_thinking";
}
