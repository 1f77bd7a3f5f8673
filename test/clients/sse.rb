# Follows a lobby with net/http: ruby sse.rb http://127.0.0.1:8080
require "json"
require "net/http"
require "timeout"

$stdout.sync = true
$stdout.set_encoding("UTF-8")
URL = ARGV[0]
LOBBIES = "#{URL}/v1/games/trivia/lobbies"

def post(address, body = nil, headers = {})
  answer = Net::HTTP.post(URI(address), JSON.generate(body), { "Content-Type" => "application/json" }.merge(headers))
  raise "#{answer.code} #{answer.body}" unless answer.is_a?(Net::HTTPSuccess)
  answer
end

# Events come into a queue; an id given goes on behind that event.
def follow(code, token, last_id = nil)
  events = Queue.new
  reader = Thread.new do
    address = URI("#{URL}/v1/hub?topic=/games/trivia/lobby/#{code}")
    request = Net::HTTP::Get.new(address, "Accept" => "text/event-stream", "Authorization" => "Bearer #{token}")
    request["Last-Event-ID"] = last_id if last_id
    Net::HTTP.start(address.host, address.port, read_timeout: 40) do |http|
      http.request(request) do |response|
        raise "#{response.code} #{response.body}" unless response.code == "200"
        rest = "".b
        type, data = "message", []
        response.read_body do |part|
          rest << part
          while (line = rest.slice!(/\A[^\n]*\n/))
            name, value = line.chomp.force_encoding("UTF-8").split(": ", 2)
            case name
            when nil
              events << [last_id, type, JSON.parse(data.join("\n"))] unless data.empty?
              type, data = "message", []
            when "id" then last_id = value
            when "event" then type = value
            when "data" then data << value
            end
          end
        end
      end
    end
  end
  reader.report_on_exception = false
  yield(-> { Timeout.timeout(12) { events.pop } })
ensure
  reader.kill
end

def now = Process.clock_gettime(Process::CLOCK_MONOTONIC, :millisecond)

def show(event, start)
  id, type, message = event
  puts "#{type} #{id} #{message["data"]["player"]["name"]} #{now - start} ms"
end

guest = JSON.parse(post("#{URL}/v1/gateway/guest", {}).body)["body"]["access_token"]
game = { hostName: "Zoë", mode: "versus", category: "science", timer: 30, numQuestions: 3 }
lobby = JSON.parse(post(LOBBIES, game, "Authorization" => "Bearer #{guest}").body)["body"]
code = lobby["lobby"]["code"]
answer = Net::HTTP.post(URI("#{LOBBIES}/#{code}/token"), "", "X-Lobby-Token" => lobby["player_token"])
token = answer["X-Hub-Token"]
join = ->(name) { post("#{LOBBIES}/#{code}/join", { name: name }) }

last_id = nil
follow(code, token) do |next_event|
  last_id, type, = next_event.call
  puts "#{type} #{last_id}"
  %w[Grace Łukasz 小林].each do |name|
    start = now
    join.call(name)
    event = next_event.call
    show(event, start)
    last_id = event[0]
  end
end

join.call("Odile")
start = now
follow(code, token, last_id) { |next_event| show(next_event.call, start) }
