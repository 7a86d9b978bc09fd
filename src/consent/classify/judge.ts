/** The port through which the gate lets a model judge a call in place of the user. */
import type { JudgedCall } from "../../kernel/ports/classifier.ts";
import type { Process } from "../../kernel/process/process.ts";

/** The outcome. `ask`: the user decides; `why` says why the classifier did not. */
export interface Judgement {
  readonly kind: "allow" | "deny" | "ask";
  readonly why: string;
}

export interface ApprovedCall extends JudgedCall {
  readonly approved: readonly string[];
}

export interface Judge {
  /** Notes that the call was permitted: the model sees it with the next call it judges. */
  passed(self: Process, call: JudgedCall): void;
  /** The model's verdict on a call. CANCELLED when the signal fires. */
  judge(self: Process, pending: JudgedCall, signal: AbortSignal): Promise<Judgement>;
  /** Does it do what the user approved in words, and nothing else? false unless the answer is a clear yes. */
  isMeant(self: Process, pending: ApprovedCall, signal: AbortSignal): Promise<boolean>;
}
