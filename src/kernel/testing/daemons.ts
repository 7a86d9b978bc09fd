/** Several daemons, one after another, on one journal, for tests of what is restored. */
import { expect } from "vitest";
import { asProcUuid, type Pid } from "../../abi/ids.ts";
import type { ChildSpec, SupervisorSpec } from "../../abi/supervise.ts";
import { Workers } from "../../supervise/testing.ts";
import type { KernelPorts } from "../ports/kernel-ports.ts";
import type { MemoryJournal } from "./memory-journal.ts";
import { NOTHING_LEFT, type TestKernel, testKernel } from "./test-kernel.ts";
import { settle } from "./virtual-clock.ts";

let generation = 0;

/** The next daemon on the same journal; names that are normally random differ from those of the previous daemon. */
function daemonOn(journal: MemoryJournal | undefined, ports: Partial<KernelPorts> = {}): TestKernel {
  generation++;
  let named = 0;
  const name = () => `${generation}`.padStart(4, "0") + `${++named}`.padStart(12, "0");
  return testKernel({ nonce: name, uuid: () => asProcUuid(`00000000-${name()}`), ...ports }, journal);
}

export class Daemon {
  readonly t: TestKernel;
  readonly workers: Workers;

  constructor(before?: Daemon, ports: Partial<KernelPorts> = {}) {
    this.t = daemonOn(before?.t.journal, ports);
    this.workers = new Workers(this.t);
  }

  child(id: string, more: Partial<ChildSpec> = {}): ChildSpec {
    return { id, start: { intent: id }, ...more };
  }

  async start(children: readonly ChildSpec[], more: Partial<SupervisorSpec> = {}): Promise<Pid> {
    this.workers.add(..."abcdefgh");
    return this.t.init.spawnSupervisor({ name: "shop", children, ...more });
  }

  /** The daemon dies and loses all merely noted records; `goneMs` later another one begins. */
  async next(goneMs = 0, ports: Partial<KernelPorts> = {}): Promise<Daemon> {
    this.t.journal.crash();
    const next = new Daemon(this, ports);
    await next.t.clock.advance(this.t.clock.mono() + goneMs);
    next.workers.add(..."abcdefgh");
    await next.t.kernel.recover();
    await settle(6);
    return next;
  }

  states(pid: Pid): string {
    const { children } = this.t.kernel.supervisor(pid).view();
    return children.map(({ id, state, restarts }) => `${id} ${state} ${restarts}`).join(", ");
  }

  async expectNothingLeft(pid: Pid): Promise<void> {
    if (this.t.kernel.table.get(pid)?.isLive === true) await this.t.init.kill(pid, 1);
    await settle(10);
    await this.t.clock.advance(120_000);
    await settle();
    expect(this.t.census()).toEqual(NOTHING_LEFT);
    expect(this.t.kernel.supervisors.size).toBe(0);
  }
}
