/**
 * Keeps the event loop of this process spinning while it loads a server.
 * Waking a sleeping process costs the waker several microseconds on a virtual
 * machine, more for a slow server, so a sleeping load would distort the CPU
 * time per request. Returns the function that stops it.
 */
export function startBusySpin(): () => void {
  let isStopped = false;
  const spin = () => {
    if (!isStopped) setImmediate(spin);
  };
  spin();
  return () => {
    isStopped = true;
  };
}
