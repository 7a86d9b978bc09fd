/** Runs a helper of the kernel as a process, so that it is listed, owned and ended like any other. */
import type { KernelPorts } from "../ports/kernel-ports.ts";
import type { ServiceSpec } from "../ports/services.ts";
import type { Body } from "./body.ts";

export function serviceBody({ clock }: Pick<KernelPorts, "clock">, spec: ServiceSpec): Body {
  return {
    kind: "service",
    name: spec.name,
    agent: null,
    isActive: false,
    prepare: async () => {},
    run: (proc) =>
      spec.run({
        pid: proc.pid,
        signal: proc.abort.signal,
        killed: proc.killed.signal,
        log: (level, message) => proc.log(level, message, clock.mono()),
      }),
  };
}
