/**
 * What most tests of the booted system stand on: for each test a world of its own, and a model that answers by its script.
 * `onStage()` sets both up for each test of a file; they end with the test. On `onSharedStage()` the tests of a file share a
 * world: to boot a daemon, and to run code that it has not run before, is most of what a short test costs.
 */
import { afterAll, afterEach, beforeAll, beforeEach, onTestFinished } from "vitest";
import type { Reply } from "../model-server/reply.ts";
import type { DialectName } from "../model-server/request.ts";
import { type ModelServer, type ModelServerOptions, startModelServer } from "../model-server/server.ts";
import { inTurn, modelEnv } from "./model.ts";
import { World } from "./world.ts";

export let world: World;
/** The model that was started last; every test starts one. */
export let server: ModelServer;

/** Called by each file of tests, before its own hooks. */
export function onStage(): void {
  beforeEach(() => {
    world = new World();
  });
  afterEach(async () => {
    await server.close();
    await world.close();
  });
}

/** The same for tests that count no pids: one daemon, and for each test a folder and a model of its own. */
export function onSharedStage(settings: object = {}): void {
  beforeTries(
    () => {
      world = new World();
    },
    () => world.close(),
  );
  beforeEach(() => {
    world.nextScene();
    world.settings(settings);
  });
  afterEach(() => server.close());
}

let cleared = "";

/**
 * What the tests of a file share: begun before the first of them, and anew before each further try of one, which would else meet
 * what the one that failed has left.
 */
export function beforeTries(begin: () => void | Promise<void>, end = async (): Promise<void> => {}): void {
  beforeAll(begin);
  beforeEach(async ({ task }) => {
    const { retryCount = 0 } = task.result ?? {};
    if (retryCount === 0) return;
    // not what has been begun for this try
    const nth = `${task.id} ${retryCount}`;
    if (cleared !== nth) await World.killAll();
    cleared = nth;
    // that it failed is known
    await end().catch((error: unknown) => console.error(error));
    await begin();
  });
  afterAll(end);
}

/** First in a test on a shared stage that counts pids, or all that there is, or ends its daemon: a world of its own. */
export function ownWorld(settings: object = {}): void {
  const shared = world;
  const own = new World();
  own.settings(settings);
  world = own;
  onTestFinished(async () => {
    world = shared;
    await own.close();
  });
}

/** Only whoever is given its variables finds it. */
export async function startModel(options: ModelServerOptions): Promise<void> {
  server = await startModelServer(options);
}

/** Starts a model that the whole world finds. */
export async function serve(script: ModelServerOptions["script"], dialect?: DialectName): Promise<void> {
  await startModel({ script });
  Object.assign(world.env, modelEnv(server, dialect));
}

export function serveInTurn(...answers: readonly Reply[]): Promise<void> {
  return serve(inTurn(...answers));
}
