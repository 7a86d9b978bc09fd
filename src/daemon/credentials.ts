/**
 * The keys of model providers that the user has stored: one file of the state directory, readable by the user alone. The
 * state directory is hidden from every command. What the file says is learned as secret before anything is done with it.
 */
import { chmodSync, lstatSync, readFileSync } from "node:fs";
import { open, rename, unlink } from "node:fs/promises";
import { join } from "node:path";
import {
  CREDENTIAL_DRIVERS,
  type Credential,
  type CredentialDriver,
  credentialEnv,
  namesDriver,
} from "../abi/credentials.ts";
import { Fault, messageOf } from "../abi/errors.ts";
import type { CredentialDesk } from "../kernel/ports/credentials.ts";

const NAME = "credentials.json";
const MAX_BYTES = 64 * 1024;

interface Around {
  learn(secrets: Iterable<string>): void;
  warn(words: string): void;
}

export class CredentialFile implements CredentialDesk {
  readonly file: string;
  readonly #around: Around;
  #all: ReadonlyMap<CredentialDriver, Credential>;
  #last: Promise<unknown> = Promise.resolve();

  /** A file that cannot be read, or that others can read, is reported; it counts as empty. */
  constructor(stateDir: string, around: Around) {
    this.file = join(stateDir, NAME);
    this.#around = around;
    this.#all = this.#read();
  }

  list(): readonly (readonly [CredentialDriver, Credential])[] {
    return [...this.#all];
  }

  set(driver: CredentialDriver, credential: Credential): Promise<void> {
    this.#around.learn([credential.key]);
    return this.#change((all) => all.set(driver, credential));
  }

  async remove(driver: CredentialDriver): Promise<boolean> {
    let isThere = false;
    await this.#change((all) => {
      isThere = all.delete(driver);
    });
    return isThere;
  }

  complete(env: Readonly<Record<string, string>>): Record<string, string> {
    const full = { ...env };
    for (const [driver, credential] of this.#all) {
      if (!namesDriver(env, driver)) Object.assign(full, credentialEnv(driver, credential));
    }
    return full;
  }

  /** One change after the other; it holds once it is on the disk. */
  #change(act: (all: Map<CredentialDriver, Credential>) => void): Promise<void> {
    const done = this.#last.then(async () => {
      const all = new Map(this.#all);
      act(all);
      await this.#write(all);
      this.#all = all;
    });
    this.#last = done.catch(() => undefined);
    return done;
  }

  async #write(all: ReadonlyMap<CredentialDriver, Credential>): Promise<void> {
    const draft = `${this.file}.new`;
    try {
      await unlink(draft).catch(() => undefined);
      const file = await open(draft, "wx", 0o600);
      try {
        await file.writeFile(`${JSON.stringify(Object.fromEntries(all), null, 2)}\n`);
        await file.sync();
      } finally {
        await file.close();
      }
      await rename(draft, this.file);
    } catch (cause) {
      throw new Fault({
        code: "UNAVAILABLE",
        message: `cannot write ${this.file}: ${messageOf(cause)}`,
        cause,
      });
    }
  }

  #read(): ReadonlyMap<CredentialDriver, Credential> {
    const all = new Map<CredentialDriver, Credential>();
    try {
      const stats = lstatSync(this.file, { throwIfNoEntry: false });
      if (stats === undefined) return all;
      if (!stats.isFile() || stats.size > MAX_BYTES) throw new Error("not a file of stored keys");
      if ((stats.mode & 0o077) !== 0) chmodSync(this.file, 0o600);
      const found = JSON.parse(readFileSync(this.file, "utf8")) as Record<string, Partial<Credential>>;
      for (const driver of CREDENTIAL_DRIVERS) {
        const { key, baseUrl } = found[driver] ?? {};
        if (typeof key !== "string" || key === "") continue;
        all.set(driver, { key, ...(typeof baseUrl === "string" ? { baseUrl } : {}) });
      }
      this.#around.learn([...all.values()].map(({ key }) => key));
    } catch (error) {
      this.#around.warn(`stored keys are not used: ${this.file}: ${messageOf(error)}`);
    }
    return all;
  }
}
