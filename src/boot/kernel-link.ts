/**
 * Gives the parts that the kernel is built from access to the kernel: connected once, when the kernel exists and
 * nothing runs yet.
 */
import type { Kernel } from "../kernel/kernel.ts";

type Asked = Pick<
  Kernel,
  | "clientOf"
  | "fileLabels"
  | "hasEnded"
  | "init"
  | "natives"
  | "notify"
  | "rested"
  | "services"
  | "table"
  | "taskPlace"
>;

export class KernelLink {
  #kernel: Asked | null = null;

  connect(kernel: Asked): void {
    this.#kernel = kernel;
  }

  get kernel(): Asked {
    if (this.#kernel === null) throw new Error("the kernel is asked before it is made");
    return this.#kernel;
  }
}
