/**
 * The devices of the machine and their claims. A claim is made by opening the device's file, so the gate has decided
 * before; it ends with that file, which belongs to a process, at the latest.
 */
import { O_RDONLY } from "../../abi/device.ts";
import { DriverError, Fault } from "../../abi/errors.ts";
import { PID_KERNEL, type Pid } from "../../abi/ids.ts";
import type { DeviceRecord } from "../../abi/methods/ipc/device.ts";
import { ABORTED, linkSignals } from "../../lib/abort.ts";
import { nearNames } from "../../lib/text/near-names.ts";
import { LIMITS } from "../limits.ts";
import type { EventDraft, EventLog } from "../ports/events.ts";
import {
  type ClaimEnd,
  type ClaimWish,
  HAL_MOUNT,
  type Hal,
  type HalClaim,
  type HalDriver,
  type HalOpening,
} from "../ports/hal.ts";
import type { KernelPorts } from "../ports/kernel-ports.ts";
import { Claim } from "./claim.ts";
import { ClaimQueue } from "./claim-queue.ts";

interface Known {
  readonly driver: HalDriver;
  readonly queue: ClaimQueue;
  /** In the order in which they were made. */
  readonly claims: Set<Claim>;
  isGone: boolean;
}

interface Wished {
  readonly wish: ClaimWish;
  made?: HalClaim;
}

export class HalTable implements Hal {
  readonly #ports: Pick<KernelPorts, "clock" | "nonce">;
  readonly #events: EventLog;
  readonly #known = new Map<string, Known>();
  readonly #claims = new Map<string, Claim>();
  readonly #wishes = new Map<string, Wished>();
  /** The owners of claims that are being made, one entry each. */
  readonly #entering: unknown[] = [];
  /** Ids of claims from before their beginning is told until their end is told. */
  readonly #told = new Set<string>();
  /** Above all of earlier daemons: each claim left more records than its fence. 0: not known yet. */
  #fence = 0;

  constructor(ports: Pick<KernelPorts, "clock" | "nonce">, events: EventLog) {
    this.#ports = ports;
    this.#events = events;
  }

  add(driver: HalDriver): void {
    const isGone = driver.isThere?.() === false;
    const known: Known = { driver, queue: new ClaimQueue(), claims: new Set(), isGone };
    this.#known.set(driver.identity.id, known);
    driver.watch?.((isThere) => void (isThere ? this.#restore(known) : this.#remove(known)));
  }

  list(): readonly DeviceRecord[] {
    return [...this.#known.values()].map(recordOf).sort((a, b) => (a.id < b.id ? -1 : 1));
  }

  driverOf(device: string): HalDriver {
    return this.#find(device).driver;
  }

  wish(device: string, wish: ClaimWish) {
    const name = `@${this.#ports.nonce()}`;
    const wished: Wished = { wish };
    this.#wishes.set(name, wished);
    const made = (): HalClaim | undefined => {
      this.#wishes.delete(name);
      return wished.made;
    };
    return { path: `${HAL_MOUNT}/${device}/${name}`, made };
  }

  async open({ device, name, pid, flags, signal }: HalOpening): Promise<HalClaim> {
    const known = this.#find(device);
    const wished = name === "" ? { wish: ofFile(pid, flags === O_RDONLY) } : this.#wishes.get(name);
    this.#wishes.delete(name);
    if (wished === undefined) throw failed("NOT_FOUND", `file not found: ${HAL_MOUNT}/${device}/${name}`);
    using linked = linkSignals(signal, wished.wish.signal);
    const claim = await this.#enter(known, { ...wished.wish, signal: linked.signal }, pid);
    wished.made = claim;
    return claim;
  }

  claim(id: string): HalClaim | undefined {
    return this.#claims.get(id);
  }

  hasMade(id: string): boolean {
    return this.#told.has(id);
  }

  close(): void {
    for (const { driver } of this.#known.values()) driver.close?.();
  }

  async #enter(known: Known, wish: ClaimWish & { signal: AbortSignal }, pid: Pid): Promise<HalClaim> {
    this.#checkCount(wish.owner);
    this.#entering.push(wish.owner);
    try {
      return await this.#enterInTurn(known, wish, pid);
    } finally {
      this.#entering.splice(this.#entering.indexOf(wish.owner), 1);
    }
  }

  /** UNAVAILABLE: as many of its claims are there, or on their way, as it may have. */
  #checkCount(owner: unknown): void {
    const held = [...this.#claims.values()].filter((claim) => claim.owner === owner).length;
    const coming = this.#entering.filter((each) => each === owner).length;
    if (held + coming >= LIMITS.claims) throw failed("UNAVAILABLE", `too many claims (${LIMITS.claims})`);
  }

  async #enterInTurn(known: Known, wish: ClaimWish & { signal: AbortSignal }, pid: Pid): Promise<HalClaim> {
    if (this.#fence === 0) this.#fence = await this.#events.head();
    let fence = 0;
    await this.#wait(known, wish, () => {
      fence = ++this.#fence;
    });
    try {
      return await this.#begin(known, wish, { pid, fence });
    } catch (error) {
      known.queue.leave(wish.mode);
      throw error;
    }
  }

  /** CONFLICT, with the holder: others held it all the time that the wish allows. */
  async #wait(
    known: Known,
    { mode, waitMs, signal }: ClaimWish & { signal: AbortSignal },
    enter: () => void,
  ) {
    if (known.queue.isFree(mode)) return known.queue.enter(mode, enter, signal);
    if (waitMs === 0) throw held(known);
    const done = new AbortController();
    const stop = new AbortController();
    using linked = linkSignals(signal, stop.signal);
    this.#ports.clock.sleep(waitMs, done.signal).then(
      () => stop.abort(held(known)),
      () => {},
    );
    try {
      await known.queue.enter(mode, enter, linked.signal);
    } finally {
      done.abort(ABORTED);
    }
  }

  async #begin(known: Known, wish: ClaimWish, { pid, fence }: { pid: Pid; fence: number }): Promise<Claim> {
    if (known.isGone) throw gone(known.driver);
    const { mode, owner, ttlMs, story = {} } = wish;
    const { driver } = known;
    const { id: device } = driver.identity;
    const channel = await driver.open(fence, mode === "exclusive" && driver.identity.modes.includes("write"));
    const id = `d_${this.#ports.nonce()}`;
    const about = { device, claim: id, pid, mode, fence };
    const tell = (event: string, cause: string): Promise<number> =>
      this.#events.publish({ event, ...of(pid), ...story, data: { ...about, cause } });
    this.#told.add(id);
    try {
      await tell("device.claimed", "claim");
    } catch (error) {
      this.#told.delete(id);
      await channel.close().catch(() => {});
      throw error;
    }
    const onEnd = async (claim: Claim, why: ClaimEnd): Promise<void> => {
      this.#claims.delete(id);
      known.claims.delete(claim);
      const told = tell("device.released", why);
      known.queue.leave(mode);
      await told.catch(() => {});
      this.#told.delete(id);
    };
    const { clock } = this.#ports;
    const claim = new Claim({ id, device, mode, fence, pid, owner, channel, clock, onEnd });
    known.claims.add(claim);
    this.#claims.set(id, claim);
    claim.renew(ttlMs);
    if (known.isGone) void claim.end("gone");
    return claim;
  }

  async #remove(known: Known): Promise<void> {
    if (known.isGone) return;
    known.isGone = true;
    await Promise.all([...known.claims].map((claim) => claim.end("gone")));
    await this.#events.publish({ event: "device.gone", data: recordOf(known) }).catch(() => {});
  }

  async #restore(known: Known): Promise<void> {
    if (!known.isGone) return;
    known.isGone = false;
    await this.#events.publish({ event: "device.added", data: recordOf(known) }).catch(() => {});
  }

  #find(device: string): Known {
    const known = this.#known.get(device);
    if (known !== undefined) return known;
    const near = nearNames(device, [...this.#known.keys()], 3).slice(0, 3);
    const message = `device not found: ${device}`;
    throw new Fault({ code: "NOT_FOUND", message, details: { near } });
  }
}

/** An open file of a process. */
function ofFile(owner: Pid, isShared: boolean): ClaimWish {
  return { owner, mode: isShared ? "shared" : "exclusive", ttlMs: Infinity, waitMs: 0 };
}

/** Events of the user's own claims are of no process. */
function of(pid: Pid): Pick<EventDraft, "pid"> {
  return pid === PID_KERNEL ? {} : { pid };
}

function holderOf({ claims }: Known): DeviceRecord["claim"] {
  const [first] = claims;
  if (first === undefined) return null;
  const { pid, mode, expiresAt } = first;
  return { pid, mode, expiresAt };
}

function recordOf(known: Known): DeviceRecord {
  const { driver, isGone } = known;
  const { id, modes, ...more } = driver.identity;
  const claim = holderOf(known);
  const state = isGone ? "gone" : claim === null ? "free" : "claimed";
  return { id, path: `${HAL_MOUNT}/${id}`, ...more, state, modes: [...modes], claim, meta: driver.meta() };
}

function held(known: Known): DriverError {
  const holder = holderOf(known);
  const by = holder === null ? "others who wait" : holder.pid === 0 ? "the user" : `process ${holder.pid}`;
  return new DriverError({
    op: "Open",
    code: "CONFLICT",
    message: `${known.driver.identity.id} is held by ${by}`,
    details: { holder, expiresAt: holder?.expiresAt ?? null },
  });
}

function gone({ identity }: HalDriver): DriverError {
  return failed("NOT_FOUND", `device gone: ${identity.id}`);
}

function failed(code: "NOT_FOUND" | "UNAVAILABLE", message: string): DriverError {
  return new DriverError({ op: "Open", code, message });
}
