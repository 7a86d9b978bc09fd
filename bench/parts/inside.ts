/**
 * Loaded into a daemon before all else (`node --require`): answers what only the process itself knows. A request is a line on its socket,
 * the answer a line of JSON; while nobody asks, it does nothing.
 */
import { unlinkSync } from "node:fs";
import { type Profiler, Session } from "node:inspector";
import { createServer } from "node:net";
import { getHeapCodeStatistics, getHeapSpaceStatistics, getHeapStatistics } from "node:v8";
import threads from "node:worker_threads";

/** Bytes. */
export interface InsideMemory {
  readonly spaces: readonly { readonly name: string; readonly used: number; readonly held: number }[];
  /** Code and its tables in the spaces; source texts outside. */
  readonly code: { readonly inHeap: number; readonly sources: number };
  readonly external: number;
  readonly arrayBuffers: number;
  /** What V8 itself has from the C library: parser, compiler, tables. */
  readonly malloced: number;
  /** The heap of each thread of Node's. */
  readonly threads: readonly { readonly name: string; readonly held: number; readonly external: number }[];
}

export interface InsideProfile {
  readonly profile: Profiler.Profile;
}

const { CRUX_BENCH_INSIDE: path } = process.env;
/** Not the client that starts it. */
const isDaemon = threads.isMainThread && process.argv.includes("--internal");
const workers = new Map<threads.Worker, string>();
if (path !== undefined && isDaemon) listen(path);

function listen(socket: string): void {
  noteThreads();
  const session = new Session();
  const acts: Record<string, () => Promise<unknown>> = {
    memory,
    profile: async () => {
      session.connect();
      await post("Profiler.enable");
      await post("Profiler.setSamplingInterval", { interval: 1_000 });
      return post("Profiler.start");
    },
    profiled: async () => {
      const result = await post("Profiler.stop");
      session.disconnect();
      return result;
    },
  };
  const post = (method: string, params: object = {}): Promise<unknown> =>
    new Promise((resolve, reject) =>
      session.post(method, params, (error, result) => (error === null ? resolve(result) : reject(error))),
    );
  const server = createServer((connection) => {
    connection.unref();
    connection.on("data", async (line) => {
      const answer = await acts[line.toString().trim()]?.();
      connection.end(`${JSON.stringify(answer ?? {})}\n`);
    });
  });
  server.listen(socket).unref();
  process.on("exit", () => unlinkSync(socket));
}

/** A thread's heap is known to whoever holds its Worker. */
function noteThreads(): void {
  const Known = threads.Worker;
  threads.Worker = class extends Known {
    constructor(...args: ConstructorParameters<typeof Known>) {
      super(...args);
      workers.set(this, args[1]?.name ?? "a thread");
      this.once("exit", () => workers.delete(this));
    }
  };
}

async function memory(): Promise<InsideMemory> {
  const { external, arrayBuffers } = process.memoryUsage();
  const code = getHeapCodeStatistics();
  const others = [...workers].map(async ([worker, name]) => {
    const heap = await worker.getHeapStatistics();
    return { name, held: heap.total_physical_size, external: heap.external_memory };
  });
  return {
    spaces: getHeapSpaceStatistics().map(({ space_name, space_used_size, physical_space_size }) => ({
      name: space_name,
      used: space_used_size,
      held: physical_space_size,
    })),
    code: {
      inHeap: code.code_and_metadata_size + code.bytecode_and_metadata_size,
      sources: code.external_script_source_size,
    },
    external,
    arrayBuffers,
    malloced: getHeapStatistics().malloced_memory,
    threads: await Promise.all(others),
  };
}
