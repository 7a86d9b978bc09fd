/** The request for a summary: what the model is shown, and what it is asked. Pure. */
import type { Boundary, ViewState } from "../../abi/context.ts";
import type { ContextMessage } from "../../abi/sys.ts";
import { messageTokens } from "../../lib/tokens/message.ts";
import { type Fit, newestThatFit, shownIn, withoutMedia } from "./fit.ts";
import type { Gauge } from "./gauge.ts";
import type { PartFit } from "./part.ts";
import { askForSummary, droppedText } from "./texts.ts";
import type { Unit } from "./units.ts";

const SUMMARY_TOKENS = 8_000;
/** Of the window, for the request; of that what each refusal leaves. */
const SHARE = 0.9;
const SHORTER = 0.8;

/** A summary that is to be written. */
export interface SummaryWish {
  readonly units: readonly Unit[];
  readonly view: ViewState;
  readonly next: Fit & Pick<PartFit, "folds" | "behind">;
  /** Estimated tokens that the messages may have afterwards. */
  readonly left: number;
  readonly layer: "full" | "notes" | "partial";
  readonly trigger: Boundary["trigger"];
  /** What the model is shown of it. */
  readonly of: readonly Unit[];
  readonly wish: string;
  /** Which part the summary is of; absent: all that it is shown. */
  readonly only?: string;
}

interface Asking {
  readonly messages: readonly ContextMessage[];
  /** The tokens of the reply. */
  readonly most: number;
  /** What is said of the steps that are not among them; "": all are. */
  readonly dropped: string;
}

interface Room {
  readonly gauge: Gauge;
  /** Estimated tokens beside the messages. */
  readonly fixed: number;
  /** How often it was refused as too long: then images are left out, and ever more of the oldest steps. */
  readonly refusals: number;
}

export function askingFor(
  { of: units, view, wish, only }: SummaryWish,
  { gauge, fixed, refusals }: Room,
): Asking {
  const { effective } = gauge.limits();
  const most = Math.min(SUMMARY_TOKENS, gauge.window - effective);
  const ask = { role: "user", content: askForSummary(Math.floor(most / 2), wish, only) } as const;
  const left = Math.floor((effective * SHARE * SHORTER ** refusals) / gauge.ratio);
  const room = left - fixed - messageTokens(ask);
  const whole = units.flatMap(({ parts }) => parts.map(({ message }) => message));
  if (refusals === 0 && whole.reduce((sum, message) => sum + messageTokens(message), 0) <= room)
    return { messages: [...whole, ask], most, dropped: "" };
  const fit = newestThatFit(units, view, { tail: Math.floor(room * 0.7), words: Math.floor(room * 0.25) });
  const shown = refusals === 0 ? shownIn(units, fit) : shownIn(units, fit).map(withoutMedia);
  const hasDropped = fit.covered.some(({ kind }) => kind === "step");
  return { messages: [...shown, ask], most, dropped: hasDropped ? droppedText(fit.covered, "") : "" };
}
