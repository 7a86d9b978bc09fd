/** Who judges a call in a person's place, as the gate sees it. */
import type { JudgedCall } from "../../kernel/ports/classifier.ts";
import type { Process } from "../../kernel/process/process.ts";

/** What it came to. `ask`: a person decides; `why` says what the classifier could not. */
export interface Judgement {
  readonly kind: "allow" | "deny" | "ask";
  readonly why: string;
}

export interface ApprovedCall extends JudgedCall {
  readonly approved: readonly string[];
}

export interface Judge {
  /** It was let through: what is judged next is seen after it. */
  passed(self: Process, call: JudgedCall): void;
  /** May it run, as far as the model that judges can tell? CANCELLED when the signal fires. */
  judge(self: Process, pending: JudgedCall, signal: AbortSignal): Promise<Judgement>;
  /** Does it do what a person approved in words, and nothing else? Anything but a clear yes is a person's question. */
  isMeant(self: Process, pending: ApprovedCall, signal: AbortSignal): Promise<boolean>;
}
