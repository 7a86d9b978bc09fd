import type { Handler } from "../handler.ts";

export const kernelMetrics: Handler<"kernel.metrics"> = async (_params, call) => {
  const { rss, heapUsed } = process.memoryUsage();
  return {
    payload: {
      at: call.clock.now(),
      uptime_ms: call.uptimeMs,
      rss_bytes: rss,
      heap_bytes: heapUsed,
      loop_lag_ms: Math.round(call.loopLag.longestMs() * 10) / 10,
      processes: call.kernel.active(),
      connections: call.connections,
      os_children: call.kernel.osChildren,
      timers: process.getActiveResourcesInfo().filter((resource) => resource === "Timeout").length,
    },
  };
};
