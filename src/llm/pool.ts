/**
 * Driver instances by the environment variables that they depend on, so that connections are reused and callers with
 * other credentials never share one. Bounded: idle instances are closed first; those in use are kept until their last
 * file is closed.
 */
import type { Driver, DriverCaller } from "./driver.ts";

const MAX_DRIVERS = 8;

export interface Lease {
  readonly driver: Driver;
  release(): Promise<void>;
}

interface Entry {
  readonly driver: Driver;
  users: number;
}

export class DriverPool {
  readonly #envKeys: readonly string[] | undefined;
  /** The instances in order of last use. */
  readonly #entries = new Map<string, Entry>();

  /** Without `envKeys` each lease gets its own driver, closed with the lease. */
  constructor(envKeys: readonly string[] | undefined) {
    this.#envKeys = envKeys;
  }

  /** `make`: the driver of this device, if there is none for the caller's environment yet. */
  async lease(
    make: (caller: DriverCaller, path: string) => Driver,
    caller: DriverCaller,
    path: string,
  ): Promise<Lease> {
    if (this.#envKeys === undefined) {
      const driver = make(caller, path);
      return { driver, release: () => driver.close() };
    }
    const key = JSON.stringify(this.#envKeys.map((name) => caller.env[name] ?? null));
    const entry = this.#entries.get(key) ?? { driver: make(caller, path), users: 0 };
    entry.users++;
    this.#entries.delete(key);
    this.#entries.set(key, entry);
    await this.#shrink();
    let isHeld = true;
    const release = async (): Promise<void> => {
      if (!isHeld) return;
      isHeld = false;
      entry.users--;
      await this.#shrink();
    };
    return { driver: entry.driver, release };
  }

  async close(): Promise<void> {
    const drivers = [...this.#entries.values()].map(({ driver }) => driver);
    this.#entries.clear();
    await Promise.all(drivers.map((driver) => driver.close()));
  }

  async #shrink(): Promise<void> {
    for (const [key, { driver, users }] of this.#entries) {
      if (this.#entries.size <= MAX_DRIVERS) return;
      if (users > 0) continue;
      this.#entries.delete(key);
      await driver.close();
    }
  }
}
