/** The window of a model and when a conversation is too long for it. Pure, and the one place that knows these numbers. */

/** No smaller window can hold a system prompt, tools, a summary and a step. */
export const LEAST_WINDOW = 8_192;

/** The most that is held back for the reply, so that a summary can always be written. */
const RESERVE = 20_000;
/** Below the effective window, for one of this size; smaller windows have smaller buffers. */
const FULL = 180_000;
const AUTO_BUFFER = 13_000;
const BLOCK_BUFFER = 3_000;
/** Below the threshold that acts. */
const WARN_BUFFER = 20_000;

export interface Thresholds {
  /** The window less what is held back for the reply. */
  readonly effective: number;
  readonly warn: number;
  /** null: the view is not moved before a request is refused. */
  readonly auto: number | null;
  readonly block: number;
  /** How much smaller than usual the buffers are: 0 … 1. */
  readonly scale: number;
}

export function thresholds(window: number, maxOutput: number, isAuto: boolean): Thresholds {
  const effective = window - Math.min(maxOutput, RESERVE, Math.floor(window / 4));
  const scale = Math.min(1, effective / FULL);
  const below = (from: number, buffer: number): number => from - Math.ceil(buffer * scale);
  const block = below(effective, BLOCK_BUFFER);
  const auto = isAuto ? below(effective, AUTO_BUFFER) : null;
  return { effective, warn: below(auto ?? block, WARN_BUFFER), auto, block, scale };
}
