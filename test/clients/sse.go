// Follows a lobby with net/http: go run sse.go http://127.0.0.1:8080
package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"log"
	"net/http"
	"os"
	"strings"
	"time"
)

// limit is how long an event may take; a comment comes every 15 s, so that only a dead stream is silent for longer.
const limit = 12 * time.Second

type event struct {
	id, kind string
	Data     struct {
		Player struct{ Name string }
	}
}

func must(err error) {
	if err != nil {
		log.Fatal(err)
	}
}

// send answers with the headers and leaves the body of the answer in reply.
func send(address, body, header, value string, reply any) http.Header {
	request, err := http.NewRequest("POST", address, bytes.NewBufferString(body))
	must(err)
	if body != "" {
		request.Header.Set("Content-Type", "application/json")
	}
	if header != "" {
		request.Header.Set(header, value)
	}
	response, err := http.DefaultClient.Do(request)
	must(err)
	defer response.Body.Close()
	if response.StatusCode >= 300 {
		log.Fatal(address, " ", response.Status)
	}
	if reply != nil {
		must(json.NewDecoder(response.Body).Decode(reply))
	}
	return response.Header
}

// follow opens the stream; an id given goes on behind that event. What it returns reads the next event, and leaves.
func follow(url, code, token, lastID string) (next func() event, leave func()) {
	ctx, cancel := context.WithCancel(context.Background())
	request, err := http.NewRequestWithContext(ctx, "GET", url+"/v1/hub?topic=/games/trivia/lobby/"+code, nil)
	must(err)
	request.Header.Set("Accept", "text/event-stream")
	request.Header.Set("Authorization", "Bearer "+token)
	if lastID != "" {
		request.Header.Set("Last-Event-ID", lastID)
	}
	response, err := http.DefaultClient.Do(request)
	must(err)
	if response.StatusCode != http.StatusOK {
		log.Fatal("stream: ", response.Status)
	}
	// A Scanner would give up at a line of 64 KiB.
	lines := bufio.NewReader(response.Body)
	return func() event {
		defer time.AfterFunc(limit, cancel).Stop()
		found, data := event{kind: "message"}, []string{}
		for {
			line, err := lines.ReadString('\n')
			must(err)
			name, value, _ := strings.Cut(strings.TrimSuffix(line, "\n"), ": ")
			switch name {
			case "id":
				found.id = value
			case "event":
				found.kind = value
			case "data":
				data = append(data, value)
			case "":
				if len(data) > 0 {
					must(json.Unmarshal([]byte(strings.Join(data, "\n")), &found))
					return found
				}
				found.kind = "message"
			}
		}
	}, cancel
}

func show(one event, start time.Time) {
	fmt.Printf("%s %s %s %d ms\n", one.kind, one.id, one.Data.Player.Name, time.Since(start).Milliseconds())
}

func main() {
	url := os.Args[1]
	lobbies := url + "/v1/games/trivia/lobbies"
	var guest struct {
		Body struct {
			AccessToken string `json:"access_token"`
		}
	}
	send(url+"/v1/gateway/guest", "{}", "", "", &guest)
	var opened struct {
		Body struct {
			Lobby       struct{ Code string }
			PlayerToken string `json:"player_token"`
		}
	}
	game := `{"hostName":"Zoë","mode":"versus","category":"science","timer":30,"numQuestions":3}`
	send(lobbies, game, "Authorization", "Bearer "+guest.Body.AccessToken, &opened)
	code := opened.Body.Lobby.Code
	token := send(lobbies+"/"+code+"/token", "", "X-Lobby-Token", opened.Body.PlayerToken, nil).Get("X-Hub-Token")
	join := func(name string) {
		body, err := json.Marshal(map[string]string{"name": name})
		must(err)
		send(lobbies+"/"+code+"/join", string(body), "", "", nil)
	}

	next, leave := follow(url, code, token, "")
	last := next()
	fmt.Println(last.kind, last.id)
	for _, name := range []string{"Grace", "Łukasz", "小林"} {
		start := time.Now()
		join(name)
		last = next()
		show(last, start)
	}
	leave()

	join("Odile")
	start := time.Now()
	next, leave = follow(url, code, token, last.id)
	show(next(), start)
	leave()
}
