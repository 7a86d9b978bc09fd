import { printComposeYaml } from "../../../abi/compose/yaml.ts";
import { noWords } from "../../args.ts";
import type { Call } from "../../command.ts";
import { showNotices } from "./event-view.ts";
import { readComposeFile } from "./file.ts";

export async function config({ args, console, host }: Call): Promise<number> {
  noWords({ ...args, words: args.words.slice(1) }, "crux compose config");
  const { digest: _, ...request } = readComposeFile(args, host);
  const client = await host.daemon.ensure();
  const { file, notices } = await client.request("compose.config", request);
  client.close();
  await showNotices(console, notices);
  if (console.mode === "json") await console.data(file);
  // in quiet mode a script only needs the exit code
  else if (console.mode !== "quiet") await console.line(printComposeYaml(file));
  return 0;
}
