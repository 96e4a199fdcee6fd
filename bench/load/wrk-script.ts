/** What wrk runs: it reads the prepared requests, sends one after the other, and writes what it counted to a file. */

export const wrkScript = `
local ffi = require('ffi')
ffi.cdef('int kill(int, int); int getpid(void);')

local threads = {}
local heads, firsts, lasts, bodyOf, bodies = '', {}, {}, {}, {}
local shown, sent, cyclic = false, 0, os.getenv('CYCLIC') == '1'

local function contents(path)
  local file = assert(io.open(path, 'rb'))
  local text = file:read('*a')
  file:close()
  return text
end

function setup(thread)
  threads[#threads + 1] = thread
end

function init()
  heads = contents(os.getenv('REQUESTS'))
  for body = 1, tonumber(os.getenv('BODIES')) do
    bodies[body] = contents(os.getenv('REQUESTS') .. '.body.' .. body)
  end
  local at, count = 1, 0
  while at <= #heads do
    local _, stop, length, body = heads:find('^(%d+) (%d+)\\n', at)
    count = count + 1
    firsts[count], lasts[count], bodyOf[count] = stop + 1, stop + length, tonumber(body)
    at = stop + 1 + length
  end
  readyClock = os.clock()
end

local function numbered(number)
  local head = heads:sub(firsts[number], lasts[number])
  local body = bodyOf[number]
  if body == 0 then return head end
  return head .. bodies[body]
end

function request()
  -- Before it starts, wrk asks for one request to see how requests look, and does not send it.
  if not shown then
    shown = true
    return numbered(1)
  end
  sent = sent + 1
  if sent > #firsts then
    sent = 1
    if not cyclic then
      -- As Ctrl-C: wrk stops its clock, and the thread handles no further answer.
      ffi.C.kill(ffi.C.getpid(), 2)
      wrk.thread:stop()
    end
  end
  return numbered(sent)
end

function done(summary, latency)
  local cpu = (os.clock() - threads[1]:get('readyClock')) * 1e6
  local errors = summary.errors
  local failures = errors.connect + errors.read + errors.write + errors.status + errors.timeout
  local file = assert(io.open(os.getenv('RESULT'), 'w'))
  file:write(string.format('%d %d %d %d\\n', summary.requests, summary.duration, failures, cpu))
  for place = 1, #latency do
    local value, count = latency(place)
    file:write(string.format('%d %d\\n', value, count))
  end
  file:close()
end
`
