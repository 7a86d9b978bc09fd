/** The model chosen for a process, the model that answered it last, and its calls that wait for one. */
import type { Effort, Thinking } from "../../abi/llm.ts";
import type { ModelPlace } from "../../abi/loop.ts";
import { LateSet } from "../../lib/maps/late.ts";
import type { ModelChoice } from "../ports/models.ts";

/** A call that waits for a slot in a lane. */
interface SlotWait {
  readonly lane: string;
  readonly sinceMono: number;
}

export class ModelSeat {
  #choice: Omit<ModelChoice, "remark"> = { device: "", model: "" };
  #answering = "";
  readonly #waits = new LateSet<SlotWait>();
  /** The model with which the process began. */
  #first: ModelPlace | null = null;

  /** Path of the process's own model device; "" before it is open. */
  get device(): string {
    return this.#choice.device;
  }

  /** "": the driver's default. */
  get name(): string {
    return this.#choice.model;
  }

  get thinking(): Thinking | undefined {
    return this.#choice.thinking;
  }

  get effort(): Effort | undefined {
    return this.#choice.effort;
  }

  /** What a record of it holds, so that a later daemon asks the model as this one does. */
  get asks(): { readonly thinking?: Thinking; readonly effort?: Effort } {
    const { thinking, effort } = this.#choice;
    return {
      ...(thinking === undefined ? {} : { thinking }),
      ...(effort === undefined ? {} : { effort }),
    };
  }

  /** The models that may answer in its place. */
  get fallbacks(): readonly ModelPlace[] {
    return this.#choice.fallbacks ?? [];
  }

  /** A line that the user must read first; "" for none. */
  get notice(): string {
    return this.#choice.notice ?? "";
  }

  /** The model that answered last, as its server names it; "" before the first answer. */
  get answering(): string {
    return this.#answering;
  }

  /** The name shown to the user: the model's, or else its driver's. */
  get known(): string {
    return this.name || (this.device.split("/")[3] ?? "");
  }

  /** The mark of what only this model can read; "": it is the model with which the process began. */
  get maker(): string {
    const { device, name } = this;
    const isFirst = this.#first === null || (this.#first.device === device && this.#first.model === name);
    return isFirst ? "" : `${device} ${name}`;
  }

  /** The same model, asked in the same way, as another process has. */
  share(other: ModelSeat): void {
    this.#choice = other.#choice;
    this.#first = other.#first;
  }

  choose(choice: Omit<ModelChoice, "remark">): void {
    this.#choice = choice;
    this.#first ??= { device: choice.device, model: choice.model };
  }

  /** Records the model of an answer. False: unchanged. */
  answered(model: string): boolean {
    if (model === "" || model === this.#answering) return false;
    this.#answering = model;
    return true;
  }

  /** Its calls that wait for a slot, the longest wait first. */
  get waits(): readonly SlotWait[] {
    return [...this.#waits];
  }

  /** A call waits from now on, until the returned function is called. */
  wait(wait: SlotWait): () => void {
    this.#waits.add(wait);
    return () => this.#waits.delete(wait);
  }
}
