/**
 * The files of a bundle, with what V8 has compiled of them before. Node's own cache has what is compiled as a file is loaded; this
 * one also has the functions that were compiled when they first ran, which is a third of the first turn of a daemon. What is kept is
 * V8's code cache, as node:vm makes and takes it; V8 itself takes it only for the same version and flags.
 *
 * A file of the cache: three numbers of four bytes, little-endian, then the code. The checksums (CRC-32) of the source and of the code,
 * and how many files its maker had loaded: who has loaded more has run more, and keeps its own. Whatever is wrong with a file, its
 * source is compiled as usual.
 */
import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { cachedDataVersionTag } from "node:v8";
import { constants, Script } from "node:vm";
import { crc32 } from "node:zlib";
import { shortHash } from "./short-hash.ts";
import { underUsualFlags } from "./v8-flags.ts";

const HEAD_BYTES = 12;

interface Kept {
  readonly code: Buffer;
  /** How many files its maker had loaded. */
  readonly files: number;
}

interface Loaded {
  readonly script: Script;
  readonly module: { exports: unknown };
  readonly sum: number;
  /** Of the maker of what V8 took; 0: it was compiled anew. */
  readonly files: number;
}

type Body = (
  exports: unknown,
  require: (id: string) => unknown,
  module: { exports: unknown },
  filename: string,
  dirname: string,
) => void;

export class CodeCache {
  readonly #dist: string;
  readonly #dir: string | undefined;
  readonly #require: NodeJS.Require;
  readonly #loaded = new Map<string, Loaded>();

  /** `dist`: the folder of the bundle; `dir`: where code is kept, closed to others. undefined: nowhere. */
  constructor(dist: string, dir: string | undefined) {
    this.#dist = dist;
    const made = `code-${process.arch}-${cachedDataVersionTag().toString(16)}-${shortHash(dist)}`;
    this.#dir = dir && join(dir, made);
    this.#require = createRequire(join(dist, "main.cjs"));
  }

  /** The exports of a CommonJS file of the bundle, which is run once. The file is ASCII, as the build writes it. */
  load(name: string): unknown {
    const known = this.#loaded.get(name);
    return known === undefined ? underUsualFlags(() => this.#run(name)) : known.module.exports;
  }

  #run(name: string): unknown {
    const filename = join(this.#dist, name);
    const source = readFileSync(filename, "latin1");
    const sum = crc32(source);
    const kept = this.#keptOf(name, sum);
    const script = new Script(`(function (exports, require, module, __filename, __dirname) {${source}\n})`, {
      filename,
      cachedData: kept?.code,
      importModuleDynamically: constants.USE_MAIN_CONTEXT_DEFAULT_LOADER,
    });
    const module = { exports: {} };
    const files = script.cachedDataRejected === false ? (kept?.files ?? 0) : 0;
    this.#loaded.set(name, { script, module, sum, files });
    const body = script.runInThisContext() as Body;
    body.call(module.exports, module.exports, (id) => this.#resolve(id), module, filename, this.#dist);
    return module.exports;
  }

  /**
   * Keeps the code of the files that are loaded, but of none that one who had loaded as many has kept: one file for each step, which
   * takes 50 ms for the largest. Never throws.
   */
  *keep(): Generator<string, void> {
    const less = [...this.#loaded].filter(([, { files }]) => files < this.#loaded.size);
    if (this.#dir === undefined || less.length === 0) return;
    try {
      mkdirSync(this.#dir, { recursive: true, mode: 0o700 });
      for (const [name, loaded] of less) {
        this.#write(this.#dir, name, loaded);
        yield name;
      }
      this.#removeOld(this.#dir);
    } catch {
      // the next daemon compiles them
    }
  }

  #resolve(id: string): unknown {
    return id.startsWith("./") ? this.load(id.slice(2)) : this.#require(id);
  }

  #keptOf(name: string, sum: number): Kept | undefined {
    if (this.#dir === undefined) return undefined;
    try {
      const bytes = readFileSync(join(this.#dir, name));
      const code = bytes.subarray(HEAD_BYTES);
      const isWhole = bytes.readUInt32LE(0) === sum && bytes.readUInt32LE(4) === crc32(code);
      return isWhole ? { code, files: bytes.readUInt32LE(8) } : undefined;
    } catch {
      return undefined;
    }
  }

  #write(dir: string, name: string, { script, sum }: Loaded): void {
    const code = script.createCachedData();
    const head = Buffer.alloc(HEAD_BYTES);
    head.writeUInt32LE(sum, 0);
    head.writeUInt32LE(crc32(code), 4);
    head.writeUInt32LE(this.#loaded.size, 8);
    const path = join(dir, name);
    const fresh = `${path}.${process.pid}`;
    try {
      writeFileSync(fresh, Buffer.concat([head, code]), { mode: 0o600 });
      renameSync(fresh, path);
    } finally {
      rmSync(fresh, { force: true });
    }
  }

  /** Of files of earlier builds, and what a killed process was writing. */
  #removeOld(dir: string): void {
    const here = new Set(readdirSync(this.#dist));
    for (const name of readdirSync(dir)) if (!here.has(name)) rmSync(join(dir, name), { force: true });
  }
}
