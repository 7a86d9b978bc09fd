/** Which model a process has, and which one answers it. */
import type { ModelChoice } from "../ports/models.ts";

export class ModelSeat {
  #choice: Omit<ModelChoice, "remark"> = { device: "", model: "" };
  #answering = "";

  /** Path of its own model device; "" before it is open. */
  get device(): string {
    return this.#choice.device;
  }

  /** "": the driver's default. */
  get name(): string {
    return this.#choice.model;
  }

  /** A line the person must read first. */
  get notice(): string {
    return this.#choice.notice ?? "";
  }

  /** Which model answered last, as its server calls it; "" before any did. */
  get answering(): string {
    return this.#answering;
  }

  /** As people know it: its name, or that of its driver. */
  get known(): string {
    return this.name || (this.device.split("/")[3] ?? "");
  }

  choose(choice: Omit<ModelChoice, "remark">): void {
    this.#choice = choice;
  }

  /** False: it was the last one too. */
  answered(model: string): boolean {
    if (model === "" || model === this.#answering) return false;
    this.#answering = model;
    return true;
  }
}
