// Package transfer builds requests for a transfer factory and reads the response.
package transfer

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"sort"
	"strings"
	"time"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/timestamppb"

	argumentsv1 "example.com/wallet/gen/offledger/choice_arguments/v1"
	argumentsv2 "example.com/wallet/gen/offledger/choice_arguments/v2"
	transferv1 "example.com/wallet/gen/offledger/transfer_instruction/v1"
	"example.com/wallet/internal/report"
)

func instrument() *argumentsv1.InstrumentId {
	return &argumentsv1.InstrumentId{Admin: report.Env("REGISTRAR"), Id: report.Env("INSTRUMENT")}
}

// Version1 asks with the arguments of TransferFactory_Transfer in version 1, which names parties.
func Version1() *transferv1.GetTransferFactoryRequest {
	now := time.Now()
	return &transferv1.GetTransferFactoryRequest{
		RegistrarParty: report.Env("REGISTRAR"),
		TypedArguments: &transferv1.GetTransferFactoryRequest_TransferV1{TransferV1: &argumentsv1.TransferArguments{
			ExpectedAdmin: proto.String(report.Env("REGISTRAR")),
			Transfer: &argumentsv1.Transfer{
				Sender:        report.Env("SENDER"),
				Receiver:      report.Env("RECEIVER"),
				Amount:        "10.0",
				InstrumentId:  instrument(),
				RequestedAt:   timestamppb.New(now),
				ExecuteBefore: timestamppb.New(now.Add(time.Hour)),
			},
		}},
	}
}

// Version2 asks with the arguments of version 2, which names accounts.
func Version2() *transferv1.GetTransferFactoryRequest {
	now := time.Now()
	return &transferv1.GetTransferFactoryRequest{
		RegistrarParty: report.Env("REGISTRAR"),
		TypedArguments: &transferv1.GetTransferFactoryRequest_TransferV2{TransferV2: &argumentsv2.TransferArguments{
			Transfer: &argumentsv2.Transfer{
				Sender:        &argumentsv2.Account{Owner: proto.String(report.Env("SENDER"))},
				Receiver:      &argumentsv2.Account{Owner: proto.String(report.Env("RECEIVER"))},
				Amount:        "10.0",
				InstrumentId:  instrument(),
				RequestedAt:   timestamppb.New(now),
				ExecuteBefore: timestamppb.New(now.Add(time.Hour)),
			},
			Actors: []string{report.Env("SENDER")},
		}},
	}
}

// WithoutReceiver is an invalid request.
func WithoutReceiver() *transferv1.GetTransferFactoryRequest {
	request := Version2()
	request.GetTransferV2().GetTransfer().Receiver = nil
	return request
}

// Read reads all that a wallet needs of a response, and compares it with the contracts of the ledger.
func Read(response *transferv1.TransferFactoryWithChoiceContext) (string, error) {
	if response.GetFactoryId() != report.Env("FACTORY_ID") {
		return "", fmt.Errorf("factory id must be %s, but is %q", report.Env("FACTORY_ID"), response.GetFactoryId())
	}
	if response.GetTransferKind() != transferv1.TransferFactoryWithChoiceContext_offer {
		return "", fmt.Errorf("transfer kind must be offer, but is %s", response.GetTransferKind())
	}
	values := response.GetChoiceContext().GetChoiceContextData().GetValues()
	configuration := values["utility.digitalasset.com/instrument-configuration"]
	if configuration.GetTag() != "AV_ContractId" || configuration.GetValue().GetStringValue() != report.Env("CONFIGURATION_ID") {
		return "", fmt.Errorf("instrument-configuration must be AV_ContractId %s, but is %v", report.Env("CONFIGURATION_ID"), configuration)
	}
	blob, err := base64.StdEncoding.DecodeString(report.Env("FACTORY_BLOB"))
	if err != nil {
		return "", err
	}
	var size int
	disclosed := response.GetChoiceContext().GetDisclosedContracts()
	for _, contract := range disclosed {
		if contract.GetContractId() == response.GetFactoryId() && bytes.Equal(contract.GetCreatedEventBlob(), blob) {
			size = len(blob)
		}
	}
	if size == 0 {
		return "", fmt.Errorf("the factory must be disclosed with its blob, but %d other contracts are", len(disclosed))
	}
	names := make([]string, 0, len(values))
	for name := range values {
		names = append(names, name)
	}
	sort.Strings(names)
	return fmt.Sprintf("factory %.10s…, %s; context %s; %d disclosed contracts, the factory's blob has %d bytes",
		response.GetFactoryId(), response.GetTransferKind(), strings.Join(names, ", "), len(disclosed), size), nil
}
