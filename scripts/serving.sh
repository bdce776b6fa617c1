# Sourced by the checks: starts the release build on loopback, on a port of the system's choice.

# honest FOLDER: fails where the log that `serve` wrote tells of a system call that the workers' sandbox forbids. No honest
# work needs one, and no photo here is to lead to one.
honest() {
  local trapped
  trapped=$(grep -c '"message":"worker tried a forbidden system call"' "$1/log" || true)
  echo "sandbox: $trapped forbidden system calls"
  [ "$trapped" -eq 0 ] || { grep 'forbidden system call' "$1/log" >&2; return 1; }
}

# serve FOLDER: logs to FOLDER/log and stores in FOLDER/store; sets `server` to its process and `base` to its URL. Comes
# back when it is ready, and fails where it does not become so.
serve() {
  local port
  .build/release/safelight serve --listen 127.0.0.1:0 --store "$1/store" 2>"$1/log" &
  server=$!
  for _ in $(seq 100); do
    port=$(sed -nE 's/.*"http\.port":([0-9]+).*/\1/p' "$1/log")
    base=http://127.0.0.1:$port
    if [ -n "$port" ] && curl -fs "$base/readyz" >/dev/null; then return; fi
    sleep 0.1
  done
  cat "$1/log" >&2
  return 1
}
