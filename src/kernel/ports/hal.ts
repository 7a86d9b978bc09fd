/**
 * Devices of the machine, their drivers and their claims (kernel IPC chapter, 5.3). Whoever uses a device opens its file
 * below /dev/hal, through the gate; the open file is the claim.
 */
import type { OpenFlag } from "../../abi/device.ts";
import type { Pid } from "../../abi/ids.ts";
import type { ClaimMode, DeviceRecord } from "../../abi/methods/ipc/device.ts";
import type { KernelEvent } from "./events.ts";

export const HAL_MOUNT = "/dev/hal";

export interface HalPiece {
  readonly data: Uint8Array;
  /** Nothing follows: the next read begins anew. */
  readonly isEnd: boolean;
  /** Bytes that were lost just before these, because nobody had read them. */
  readonly dropped?: number;
}

export interface HalReading {
  /** Absent: after what was read last. */
  readonly offset?: number | undefined;
  /** For a stream: what is measured comes in its time, not at once. */
  readonly isStream?: boolean | undefined;
}

/**
 * A device as one holder has it open. A call rejects with the reason of its signal, and takes no data then. DriverError:
 * the device failed.
 */
export interface HalChannel {
  /** At least one byte, or the end; waits for it. */
  read(length: number, reading: HalReading, signal: AbortSignal): Promise<HalPiece>;
  /** Resolves when the device has taken all of it. CONFLICT: a newer holder has come. */
  write(data: Uint8Array, offset: number | undefined, signal: AbortSignal): Promise<void>;
  close(): Promise<void>;
}

export type HalIdentity = Pick<DeviceRecord, "id" | "kind" | "name" | "driver" | "modes">;

export interface HalDriver {
  readonly identity: HalIdentity;
  /** Agents use it without asking: it shows nothing of the user, and changes nothing outside Crux. */
  readonly isHarmless: boolean;
  /** For people and programs: its settings, its bounds, and what was dropped. */
  meta(): Record<string, unknown>;
  /** `fence`: of the claim. Those that write rise; a driver refuses what a holder of a lower one writes. */
  open(fence: number, canWrite: boolean): Promise<HalChannel>;
  /** Its source is there. Absent: it always is. */
  isThere?(): boolean;
  /** Calls `tell` whenever the source disappears or comes back. Absent: it never does. */
  watch?(tell: (isThere: boolean) => void): void;
  close?(): void;
}

/** Why a claim has ended. */
export type ClaimEnd = "released" | "expired" | "disconnected" | "gone";

export interface ClaimWish {
  readonly mode: ClaimMode;
  /** Whoever may use the claim: a pid, or a connection of the user. At most 32 claims each. */
  readonly owner: unknown;
  /** Infinity: as long as the file is open. */
  readonly ttlMs: number;
  readonly waitMs: number;
  readonly story?: Pick<KernelEvent, "correlationId" | "causationId" | "intentId">;
  readonly signal?: AbortSignal;
}

export interface HalClaim {
  readonly id: string;
  readonly device: string;
  readonly mode: ClaimMode;
  readonly fence: number;
  readonly pid: Pid;
  readonly owner: unknown;
  /** ms since the epoch; null: it does not expire. */
  readonly expiresAt: number | null;
  /** Fires when the claim has ended. */
  readonly over: AbortSignal;
  /** undefined: it lives. */
  readonly ended: ClaimEnd | undefined;
  /** The piece that was read last. */
  readonly last: HalPiece | undefined;
  /** How the next read is meant, and where the next write goes: set by whoever makes them, one at a time. */
  reading: HalReading | undefined;
  writeAt: number | undefined;
  renew(ttlMs: number): void;
  /** CONFLICT `claim expired`. */
  read(length: number, signal: AbortSignal): Promise<HalPiece>;
  write(data: Uint8Array, signal: AbortSignal): Promise<void>;
  end(why: ClaimEnd): Promise<void>;
}

export interface Hal {
  list(): readonly DeviceRecord[];
  /** NOT_FOUND. */
  driverOf(device: string): HalDriver;
  /** The path that makes this claim when it is opened; once, and only by the owner. */
  wish(device: string, wish: ClaimWish): { readonly path: string; readonly made: () => HalClaim | undefined };
  /** What opens a file of a device: `name` is that of a wish, or "". CONFLICT: held by others, with the holder. */
  open(opening: HalOpening): Promise<HalClaim>;
  /** undefined: it has ended, or never was. */
  claim(id: string): HalClaim | undefined;
  /** False for the claims of earlier daemons, and for those whose end was told. */
  hasMade(id: string): boolean;
}

export interface HalOpening {
  readonly device: string;
  readonly name: string;
  readonly pid: Pid;
  readonly flags: OpenFlag;
  /** Fires when the process ends. */
  readonly signal: AbortSignal;
}
