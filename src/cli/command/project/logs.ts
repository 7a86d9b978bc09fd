import { countFlag } from "../../args.ts";
import type { Call } from "../../command.ts";
import { daemonVanished } from "../../daemon/vanished.ts";
import { EventView } from "./event-view.ts";
import { findProject } from "./file.ts";

const DEFAULT_TAIL = 200;

/** Ctrl-C ends only the following; the project is not affected. */
export async function logs({ args, console, host }: Call): Promise<number> {
  const [, ...services] = args.words;
  const tail = args.flags.has("tail") ? countFlag(args, "tail") : DEFAULT_TAIL;
  const project = findProject(args, host);
  const client = await host.daemon.ensure();
  const stream = await client.stream("compose.logs", {
    project,
    tail,
    ...(services.length === 0 ? {} : { services }),
    ...(args.flags.has("follow") ? { follow: true } : {}),
  });
  try {
    const view = new EventView(console, stream.response.children, host.stdout.isTTY === true);
    if (!(await view.showAll(stream.lines))) throw daemonVanished();
    return 0;
  } finally {
    stream.close();
  }
}
