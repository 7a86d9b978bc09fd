import type { Handler } from "../../handler.ts";
import { sendEvents } from "./events.ts";

const DEFAULT_TAIL = 200;

export const composeLogs: Handler<"compose.logs"> = async (params, { kernel, ended, gone }) => {
  const { project, services = [], tail = DEFAULT_TAIL, follow = false } = params;
  const { replicas } = kernel.projects.view(project);
  const events = await kernel.projects.logs(project, { services, tail, follow });
  const shown = replicas.filter(({ service }) => services.length === 0 || services.includes(service));
  return {
    payload: { children: shown.map(({ service, replica }) => `${service}-${replica}`) },
    follow: async (send) => {
      await sendEvents(events, send, {
        noticeOf: () => "",
        until: follow ? ended : gone,
        isShown: ({ event }) => event === "log",
        isLast: () => false,
      });
    },
  };
};
