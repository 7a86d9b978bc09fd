/** The way back to the kernel for what it is made with: connected once, when the kernel is made and nothing runs yet. */
import type { Kernel } from "../kernel/kernel.ts";

type Asked = Pick<Kernel, "clientOf" | "hasEnded" | "notify" | "rested" | "services" | "table" | "taskPlace">;

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
